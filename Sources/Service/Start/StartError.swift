// Why the service can't start.

/// One sentence for the operator. It names the setting, the rule and the way out.
package struct StartError: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
