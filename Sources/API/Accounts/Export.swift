// All that the service holds of the caller, as a stream of lines.
import Domain
import Hummingbird
import NIOCore
import Store

extension API {
    var exportRoutes: [Route] {
        [Route(.get, "/v1/users/me/export", .exportOwnAccount, .signedIn(exportOwnAccount))]
    }

    private func exportOwnAccount(_ call: Call, _ identity: Identity) async throws -> Answer {
        let export = AccountExport(store: store, identity: identity, authenticator: authenticator, reads: reads)
        // What fails up to here is a problem as anywhere; afterwards the answer is cut.
        let account = try await store.exportAccount(identity.user)
        var answer = Answer(status: .ok, headers: Headers.of(type: "application/x-ndjson"))
        if call.request.method == .get {
            answer.stream = { writer in try await export.write(account, to: &writer) }
        }
        return answer
    }
}

/// Reads an account's data page by page, the next one when the client has taken the last: a node holds a page of it,
/// however much there is.
private struct AccountExport: Sendable {
    private static let rowCountMax = 200
    /// Of up to 64 KiB each.
    private static let versionCountMax = 16

    let store: Store
    let identity: Identity
    let authenticator: Authenticator
    /// A statement counts while it is under way, and not while the client takes what it gave.
    let reads: AccountReads

    func write(_ account: JSONText, to writer: inout any ResponseBodyWriter) async throws {
        var lineCount = 1
        try await Self.write([account], to: &writer)
        for part in ExportPart.allCases {
            var after: PageKey?
            repeat {
                // Who is signed out meanwhile gets no more.
                guard authenticator.goesOn(identity.session) else { throw Problem.badToken }
                let rows = try await reads.run(for: identity.user) {
                    try await store.export(part, of: identity.user, after: after, limit: Self.rowCountMax)
                }
                try await Self.write(rows.map(\.line), to: &writer)
                lineCount += rows.count
                for row in rows where row.isEdited { lineCount += try await writeVersions(of: row.key, to: &writer) }
                after = rows.last?.key
            } while after != nil
        }
        // By this a client tells a whole export from one that was cut.
        try await Self.write(
            [JSONText(utf8: Array("{\"type\":\"end\",\"data\":{\"lines\":\(lineCount)}}".utf8))], to: &writer)
        try await writer.finish(nil)
    }

    /// How many there were.
    private func writeVersions(of message: PageKey, to writer: inout any ResponseBodyWriter) async throws -> Int {
        var lineCount = 0
        var after: Int32 = -1
        while true {
            let versions = try await reads.run(for: identity.user) {
                try await store.exportVersions(
                    of: message, by: identity.user, after: after, limit: Self.versionCountMax)
            }
            guard let last = versions.last else { return lineCount }
            try await Self.write(versions.map(\.line), to: &writer)
            lineCount += versions.count
            after = last.version
        }
    }

    private static func write(_ lines: [JSONText], to writer: inout any ResponseBodyWriter) async throws {
        guard !lines.isEmpty else { return }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(lines.reduce(0) { $0 + $1.utf8.count + 1 })
        for line in lines {
            // JSON as the database prints it may be broken into lines, between values only.
            bytes.writeBytes(
                line.utf8.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 })
            bytes.writeInteger(UInt8(ascii: "\n"))
        }
        try await writer.write(bytes)
    }
}
