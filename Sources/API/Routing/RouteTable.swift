// Finds the route of a path. The only place that matches paths: endpoints, early answers, 405 and preflights all use
// it, so they agree.
import Domain
import HTTPTypes

/// The routes by their paths.
///
/// A fixed segment matches byte for byte: no percent-encoding, no `;` parameters, no other case. A parameter matches
/// any segment that is not empty, percent-encoded or not. A fixed segment has precedence over a parameter.
package struct RouteTable: Sendable {
    /// The result of a search for a path.
    package enum Match: Sendable {
        /// The path's parameters are as they were sent.
        case route(Route, PathParameters)
        /// The path has only these other methods.
        case otherMethods([HTTPRequest.Method])
        case nothing
    }

    /// One segment of the patterns, and the segments after it.
    private struct Node: Sendable {
        var literals: [(segment: String, node: Int)] = []
        var parameter: Int?
        /// The routes whose patterns end here.
        var routes: [Route] = []
    }

    private var nodes = [Node()]
    private var segmentCountMax = 0

    package init(_ routes: [Route]) {
        for route in routes {
            let segments = route.pattern.split(separator: "/")
            segmentCountMax = max(segmentCountMax, segments.count)
            var node = 0
            for segment in segments { node = next(after: node, String(segment)) }
            nodes[node].routes.append(route)
        }
    }

    private mutating func next(after node: Int, _ segment: String) -> Int {
        let isParameter = segment.hasPrefix("{")
        let known =
            isParameter ? nodes[node].parameter : nodes[node].literals.first { $0.segment == segment }?.node
        if let known { return known }
        nodes.append(Node())
        let new = nodes.count - 1
        if isParameter { nodes[node].parameter = new } else { nodes[node].literals.append((segment, new)) }
        return new
    }

    /// Finds the route of a method and a path. Reads at most as many segments as the longest route has.
    package func find(_ method: HTTPRequest.Method, _ path: Substring) -> Match {
        var values: [Substring] = []
        guard let node = node(of: path, &values) else { return .nothing }
        if let route = nodes[node].routes.first(where: { $0.methods.contains(method) }) {
            return .route(route, PathParameters(names: route.parameterNames, values: values))
        }
        return .otherMethods(nodes[node].routes.flatMap(\.methods))
    }

    /// The methods of a path. Empty if no call has the path.
    package func methods(for path: some StringProtocol) -> [HTTPRequest.Method] {
        var values: [Substring] = []
        return node(of: Substring(path), &values).map { nodes[$0].routes.flatMap(\.methods) } ?? []
    }

    private func node(of path: Substring, _ values: inout [Substring]) -> Int? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let segments = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), maxSplits: segmentCountMax, omittingEmptySubsequences: false)
        guard segments.count <= segmentCountMax, segments.allSatisfy({ !$0.isEmpty }) else { return nil }
        return walk(from: 0, segments[...], &values)
    }

    /// The node at which the segments end, if it has routes. A fixed segment is tried before a parameter.
    private func walk(
        from node: Int, _ segments: ArraySlice<Substring.UTF8View>, _ values: inout [Substring]
    ) -> Int? {
        guard let segment = segments.first else { return nodes[node].routes.isEmpty ? nil : node }
        let rest = segments.dropFirst()
        let literal = nodes[node].literals.first { $0.segment.utf8.elementsEqual(segment) }
        if let literal, let found = walk(from: literal.node, rest, &values) { return found }
        guard let parameter = nodes[node].parameter else { return nil }
        values.append(Substring(segment))
        if let found = walk(from: parameter, rest, &values) { return found }
        values.removeLast()
        return nil
    }
}

/// The parameters of a path by name, as they were sent.
package struct PathParameters: Sendable {
    fileprivate let names: [Substring]
    fileprivate let values: [Substring]

    package subscript(name: String) -> Substring? {
        names.firstIndex { $0 == name }.map { values[$0] }
    }
}
