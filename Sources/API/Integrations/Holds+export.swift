// The export of a hold: a line for each held content, and a signed last line.
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
        var manifest = ExportManifest()
        var count = 0
        try await send(Self.line("hold", hold), &manifest, to: writer)
        var after: Int64? = 0
        while let number = after {
            let page = try await store.holdExportPage(id, after: number, limit: Self.pageContentCountMax)
            try await send(page.items.flatMap { Self.line("held_content", $0) }, &manifest, to: writer)
            count += page.items.count
            after = page.next
        }
        // Recorded before the last line is sent: a whole export is always in the audit log.
        let time = try await store.endHoldExport(id, count: count, sha256: manifest.sha256, by: actor)
        let end = try manifest.finish(counts: [("contents", count)], at: time, by: key)
        try await writer.write(ByteBuffer(bytes: end))
    }

    private func send(
        _ bytes: [UInt8], _ manifest: inout ExportManifest, to writer: BodyWriter
    ) async throws {
        guard !bytes.isEmpty else { return }
        manifest.update(bytes)
        try await writer.write(ByteBuffer(bytes: bytes))
    }

    /// A line of the export. The database may print line breaks in JSON, only between values.
    private static func line(_ type: String, _ data: JSONText) -> [UInt8] {
        let data = data.utf8.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        return Array("{\"type\":\"\(type)\",\"data\":".utf8) + data + Array("}\n".utf8)
    }
}
