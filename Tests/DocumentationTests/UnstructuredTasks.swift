// docs/architecture.md, "Concurrency rules": which tasks have no parent.
import Foundation
import TestSupport
import Testing

@Suite("The server's tasks", .timeLimit(.minutes(1)))
struct UnstructuredTasks {
    /// Files that begin tasks without a parent, and how many.
    private static let expected = [
        "API/Attachments/Uploads/UploadWriter.swift": 1, "API/Integrations/Feed/ChangesStream.swift": 1,
        "API/Sync/EventStream.swift": 1, "Log/Writing/Batcher.swift": 1, "Transport/Response/Reply+tasks.swift": 2,
    ]
    /// The clients, which are no part of a node.
    private static let clients = ["Bench", "Parley", "ParleyObservation", "TerminalClient"]

    @Test("have a parent, except those that the architecture names")
    func tasks() throws {
        let sources = Repository.file("Sources").standardizedFileURL.path + "/"
        let files = try #require(FileManager.default.enumerator(atPath: sources))
        var found: [String: Int] = [:]
        for case let path as String in files where path.hasSuffix(".swift") {
            guard !Self.clients.contains(String(path.prefix { $0 != "/" })) else { continue }
            let text = try String(contentsOfFile: sources + path, encoding: .utf8)
            let count = text.matches(of: /\bTask(?:\.detached)?\s*[({]/).count
            if count > 0 { found[path] = count }
        }
        #expect(found == Self.expected)
    }
}
