// The export of a hold: a line for each held content, and a signed last line.
import Archives
import Credentials
import Domain
import NIOCore
import Store
import Transport

extension HoldCalls {
    func exportHold(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let key = try await exportKey()
        let id = try call.hold()
        var answer = Answer(status: .ok, headers: Headers.of(type: "application/x-ndjson"))
        guard call.request.method == .get else {
            // The same refusals, but nothing is read and recorded.
            _ = try await store.holdExportPage(id, after: .max, limit: 1)
            return answer
        }
        // An error up to here is answered as a problem. A later one cuts off the answer.
        let hold = try await store.beginHoldExport(id, by: actor)
        let export = HoldExport(id: id, store: store, actor: actor, key: key)
        answer.stream = StreamedBody { writer in try await export.write(hold, to: writer) }
        return answer
    }

    func getExportKey(_ call: Call, _ actor: AdminActor) async throws -> Answer {
        let key = try await exportKey()
        let members: [JSONValue.Member] = [
            .init("id", .string(key.id)), .init("algorithm", .string("Ed25519")), .init("pem", .string(key.publicPEM)),
        ]
        return .json(JSONText(.object(members)))
    }

    /// The key that signs exports. The first call makes it.
    private func exportKey() async throws -> ExportKey {
        let seed = try await store.exportKeySeed(otherwise: ExportKey.make().seed)
        guard let key = ExportKey(seed: seed) else {
            throw Problem(.internalError, "The database holds no valid key for exports.")
        }
        return key
    }
}

/// Reads a hold's contents page by page. The next page is read when the client has received the last one, so a node
/// holds one page.
private struct HoldExport: Sendable {
    private static let pageContentCountMax = 200

    let id: HoldID
    let store: Store
    let actor: AdminActor
    let key: ExportKey

    func write(_ hold: JSONText, to writer: BodyWriter) async throws {
        var digest = ArchiveDigest()
        func send(_ type: StaticString, _ items: [JSONText]) async throws {
            guard !items.isEmpty else { return }
            let bytes = items.flatMap { ArchiveText.line(type, $0) }
            digest.update(bytes, type: "\(type)", count: items.count)
            try await writer.write(ByteBuffer(bytes: bytes))
        }
        try await send("hold", [hold])
        var after: Int64? = 0
        while let number = after {
            let page = try await store.holdExportPage(id, after: number, limit: Self.pageContentCountMax)
            try await send("held_content", page.items)
            after = page.next
        }
        let count = digest.lineCount - 1
        // Recorded before the last line is sent: a whole export is always in the audit log.
        let time = try await store.endHoldExport(id, count: count, sha256: digest.sha256, by: actor)
        let end = try key.lastLine(
            counts: ["contents": count, "bytes": digest.byteCount], sha256: digest.sha256, at: time)
        try await writer.write(ByteBuffer(bytes: end))
    }
}
