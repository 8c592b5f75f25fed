// Asks clamd about bytes.
package enum VirusScanner {}
