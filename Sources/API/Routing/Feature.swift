// What one feature adds to a node. Node.swift has the list of features with work of their own or settings, and API.swift
// of those that are calls and no more.
import Workers

/// One feature of a node: its calls, and the components that work and count for it.
package struct Feature: Sendable {
    package let routes: [Route]
    /// Dependencies first.
    package let components: [Component]

    package init(routes: [Route] = [], components: [Component] = []) {
        self.routes = routes
        self.components = components
    }
}
