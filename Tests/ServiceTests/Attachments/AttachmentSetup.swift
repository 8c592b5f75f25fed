// Attachments in a real database, and the parts of one node that check them.
import API
import Cryptography
import Domain
import Foundation
import Postgres
import ServiceConfiguration
import Store
import TestSupport
import Testing
import Thumbnailing
import Transport

@testable import Service

struct AttachmentSetup {
    let database: String
    let store: Store
    let metrics = AttachmentMetrics()
    let lines = LogLines()
    let rates: RateLimits
    let processor: AttachmentProcessor
    let checker: AttachmentChecker
    private let pools: DatabasePools

    static let owner = UserID(parsing: "00000000-0000-0000-0000-000000000001")!
    /// A PNG of one white pixel.
    static let dot: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xde, 0x00, 0x00, 0x00,
        0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0xff, 0xff, 0x3f, 0x00, 0x05, 0xfe, 0x02, 0xfe, 0x33,
        0x12, 0x95, 0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
    ]
    static let rules = UploadRules(
        byteCountMax: 1 << 30, quotaByteCount: 1 << 30, unusedCountMax: 1_000, unusedHours: 24)

    /// - Parameters:
    ///   - database: that of another node; nil for a new one.
    ///   - scanURL: of a virus scanner.
    ///   - thumbnailer: nil for the built one.
    init(
        database other: String? = nil, scanURL: String? = nil, fail: Settings.ScanFail = .closed,
        thumbnailer executable: String? = nil
    ) async throws {
        if let other {
            database = other
        } else {
            database = try await MigratedDatabase.create()
            let user = "insert into users (id, username, username_key, name, created_at)"
            try await Psql.run("\(user) values ('\(Self.owner)', 'u', 'u', 'U', now())", conninfo: database)
        }
        pools = DatabasePools(
            PostgresSettings(test: database), readTimeout: .seconds(3),
            logger: lines.logger)
        store = Store(pools)
        var settings = Settings()
        settings.scanner = scanURL.flatMap { ScannerAddress($0) }
        settings.scanFail = fail
        rates = RateLimits(isOn: true, proxies: TrustedProxies(), store: store)
        processor = AttachmentProcessor(
            store: store, scanner: settings.makeAttachmentScanner(failures: metrics.scanFailures, logger: lines.logger),
            thumbnailer: Thumbnailer(executable: executable, logger: lines.logger), rates: rates, metrics: metrics,
            logger: lines.logger)
        checker = AttachmentChecker(store: store, processor: processor, logger: lines.logger)
    }

    /// Runs the checker while `body` does.
    func running(_ body: () async throws -> Void) async throws {
        let running = Task { [checker] in try await checker.run() }
        try await lines.shown(at: body) {
            running.cancel()
            _ = await running.result
            await close()
        }
    }

    func close() async { await pools.shutdown() }

    /// Creates another account.
    func account() async throws -> UserID {
        let id = UserID.make()
        _ = try await query(
            "insert into users (id, username, username_key, name, created_at) values ('\(id)', '\(id)', '\(id)', 'V', now())"
        )
        return id
    }

    /// Stores a complete upload in state `checking`.
    func upload(
        _ bytes: [UInt8], as id: AttachmentID = .make(), type: String? = nil, of owner: UserID = owner
    ) async throws -> AttachmentID {
        let start = try await store.beginUpload(
            id, owner: owner, name: "file", declaredType: type, length: bytes.count, rules: Self.rules)
        guard case .receiving(var claim) = start else { throw Unexpected("\(start)") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(AttachmentSizes.chunkByteCount)
            rest = rest.dropFirst(piece.count)
            try await store.append(Array(piece), to: &claim, isDurable: rest.isEmpty)
        }
        try await store.finishUpload(claim, rules: Self.rules)
        return id
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// The `attachment` object of the contract.
    func info(_ id: AttachmentID) async throws -> [String: Any] {
        let json = try await store.attachment(id, for: Self.owner)
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    func state(_ id: AttachmentID) async throws -> String? { try await info(id)["state"] as? String }

    /// The bytes that are served. Their digest is as stored.
    func served(_ id: AttachmentID, _ variant: AttachmentVariant = .original) async throws -> [UInt8] {
        let file = try await store.openAttachment(id, variant: variant, for: .user(Self.owner))
        var bytes: [UInt8] = []
        while bytes.count < file.byteCount,
            let chunk = try await store.chunk(bytes.count / AttachmentSizes.chunkByteCount, of: variant, id)
        {
            bytes += chunk
        }
        #expect(bytes.count == file.byteCount)
        #expect(SHA256.digest(bytes) == file.digest)
        return bytes
    }

    func query(_ sql: String) async throws -> String {
        try await Psql.run(sql, conninfo: database)
    }
}

extension [UInt8] {
    func contains(_ part: [UInt8]) -> Bool { Data(self).range(of: Data(part)) != nil }

    /// A PNG of random pixels, which cannot be compressed: three bytes a pixel. With a comment and bytes after its end.
    static func noisyPicture(width: Int, height: Int) throws -> [UInt8] {
        let script = """
            import io, os, sys
            from PIL import Image, PngImagePlugin
            size, info, out = (\(width), \(height)), PngImagePlugin.PngInfo(), io.BytesIO()
            info.add_text("Comment", "SECRET")
            Image.frombytes("RGB", size, os.urandom(3 * size[0] * size[1])).save(out, "PNG", pnginfo=info)
            sys.stdout.buffer.write(out.getvalue() + b"SECRET" * 100_000)
            """
        return Array(try Tool.run(["/usr/bin/python3", "-c", script]))
    }
}

extension LogLines {
    /// Calls `body` and then `end`. If `body` fails, the test's output has the log.
    func shown(at body: () async throws -> Void, end: () async -> Void) async throws {
        try await finally {
            do { try await body() } catch {
                Issue.record("\(error); the log: \(all)")
                throw error
            }
        } end: {
            await end()
        }
    }
}
