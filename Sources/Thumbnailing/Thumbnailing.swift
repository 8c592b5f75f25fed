// Runs parley-thumbnailer.
package enum Thumbnailing {}
