// Everything that the service stores about the caller, as a stream of lines.
import Archives
import Domain
import NIOCore
import Store
import Transport

struct AccountExportCalls: Sendable {
    let store: Store
    let authenticator: Authenticator
    let reads: CallSlots<UserID>

    var routes: [Route] {
        [Route(.get, "/v1/users/me/export", .exportOwnAccount, .signedIn(exportOwnAccount))]
    }

    private func exportOwnAccount(_ call: Call, _ identity: Identity) async throws -> Answer {
        let export = AccountExport(store: store, identity: identity, authenticator: authenticator, reads: reads)
        // An error up to here is answered as a problem. A later one cuts off the answer.
        let account = try await store.exportAccount(identity.user)
        var answer = Answer(status: .ok, headers: Headers.of(type: "application/x-ndjson"))
        if call.request.method == .get {
            answer.stream = StreamedBody { writer in try await export.write(account, to: writer) }
        }
        return answer
    }
}

/// Reads an account's data page by page. The next page is read when the client has received the last one, so a
/// node holds one page.
private struct AccountExport: Sendable {
    private static let rowCountMax = 200
    /// Versions of up to 64 KiB each.
    private static let versionCountMax = 16

    let store: Store
    let identity: Identity
    let authenticator: Authenticator
    /// Counts a read while its statement runs, but not while the client receives the result.
    let reads: CallSlots<UserID>

    func write(_ account: JSONText, to writer: BodyWriter) async throws {
        var lineCount = 1
        try await Self.write([account], to: writer)
        for part in ExportPart.allCases {
            var after: PageKey?
            repeat {
                // A session that ended meanwhile gets no more data.
                guard authenticator.goesOn(identity.session) else { throw Problem.badToken }
                let rows = try await reads.run(for: identity.user) {
                    try await store.export(part, of: identity.user, after: after, limit: Self.rowCountMax)
                }
                try await Self.write(rows.map(\.line), to: writer)
                lineCount += rows.count
                for row in rows where row.isEdited { lineCount += try await writeVersions(of: row.key, to: writer) }
                after = rows.last?.key
            } while after != nil
        }
        // A client recognises a complete export by this line.
        let end = ArchiveText.line("end", .object([.init("lines", .integer(lineCount))]))
        try await writer.write(ByteBuffer(bytes: end))
    }

    /// Returns the number of versions.
    private func writeVersions(of message: PageKey, to writer: BodyWriter) async throws -> Int {
        var lineCount = 0
        var after: Int32 = -1
        while true {
            let versions = try await reads.run(for: identity.user) {
                try await store.exportVersions(
                    of: message, by: identity.user, after: after, limit: Self.versionCountMax)
            }
            guard let last = versions.last else { return lineCount }
            try await Self.write(versions.map(\.line), to: writer)
            lineCount += versions.count
            after = last.version
        }
    }

    private static func write(_ lines: [JSONText], to writer: BodyWriter) async throws {
        if !lines.isEmpty { try await writer.write(ByteBuffer(bytes: ArchiveText.lines(lines))) }
    }
}
