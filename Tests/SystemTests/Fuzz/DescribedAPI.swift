// The parts of /openapi.yaml that fuzzing needs, so that a new route is fuzzed without further code. Another test checks
// that the document lists exactly the existing routes.

import Foundation
import Testing

/// The calls, the problem codes and the words that requests may hold.
struct DescribedAPI: Sendable {
    /// Methods in capitals; paths with their `{parameters}`.
    var routes: [(method: String, path: String)] = []
    var codes: Set<String> = []
    /// Names of parameters and of members of bodies.
    var names: [String] = []

    /// Reads the document line by line: it is the project's own, so a full YAML parser would find nothing more.
    init(_ node: Node) async throws {
        let text = try await node.client.get("/openapi.yaml").text
        var path: String?
        var isInCodes = false
        var names: Set<String> = []
        for line in text.split(separator: "\n").map(String.init) {
            if let match = line.wholeMatch(of: /\ \ (\/\S*):/) { path = String(match.1) }
            if line.hasPrefix("components:") { path = nil }
            if let path, let match = line.wholeMatch(of: /\ \ \ \ (get|put|post|delete|patch):/) {
                routes.append((match.1.uppercased(), path))
            }
            if line == "    ProblemCode:" { isInCodes = true }
            if isInCodes, let match = line.wholeMatch(of: /\ +- ([a-z_]+)/) {
                codes.insert(String(match.1))
            } else if !codes.isEmpty {
                isInCodes = false
            }
            if let match = line.firstMatch(of: /^ +(?:- )?(?:name: )?([a-z][a-z_0-9]{1,20}):? *(?:\{|$)/) {
                names.insert(String(match.1))
            }
            if let match = line.firstMatch(of: /name: ([a-z][a-z_0-9]*)/) { names.insert(String(match.1)) }
        }
        self.names = names.sorted()
        try #require(routes.count > 30 && codes.count > 30 && names.count > 50, "openapi.yaml has another form")
    }
}
