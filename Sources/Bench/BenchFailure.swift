// The error of the load generator.

/// Why a measurement failed, or why its figures cannot be trusted.
package struct BenchFailure: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
