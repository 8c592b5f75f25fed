// Finds out what a file is by its first bytes.
package enum MediaType: String, Sendable, CaseIterable { case jpeg = "image/jpeg" }
