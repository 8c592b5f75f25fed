// Replays Tests/ClientVectors through the client's store. Their README has the format.

import Foundation
import Testing

@testable import Parley

@Suite("The store, by the client vectors", .timeLimit(.minutes(1)))
struct ClientVectors {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../ClientVectors")

    private static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".json") }.sorted()
    }()

    @Test("are all there")
    func count() { #expect(Self.names.count >= 15) }

    @Test("shows what each vector expects", arguments: names)
    func replay(_ name: String) async throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        let vector = try JSONValue(stored: text)
        var replay = VectorReplay(store: try ClientStore(.memory), user: vector["user"]?.string ?? "")
        let steps = vector["steps"]?.array ?? []
        try #require(!steps.isEmpty)
        for (number, step) in steps.enumerated() {
            let following = number + 1 < steps.count ? steps[number + 1] : .object([:])
            let differences = try await replay.take(step, before: following)
            guard differences.isEmpty else {
                Issue.record("step \(number + 1) of \(name): \(differences.joined(separator: "\n"))")
                return
            }
        }
    }
}
