// The object store against a real S3 server, directly and through a proxy that makes faults.
import Cryptography
import Foundation
import ObjectStore
import Outbound
import TestSupport
import Testing

@Suite(
    "Storing objects", .serialized,
    .enabled(if: Tool.permits(TestObjectStore.isInstalled), "\(TestObjectStore.needed)"),
    .timeLimit(.minutes(1)))
struct StoringObjects {
    private let server: TestObjectStore
    private let store: ObjectStore

    private static let start = Task { try await TestObjectStore.start() }

    init() async throws {
        server = try await Self.start.value
        try server.set()
        store = try Self.store(server.endpoint)
    }

    private static func store(
        _ endpoint: String, bucket: String = TestObjectStore.bucket, secretKey: String = TestObjectStore.secretKey
    ) throws -> ObjectStore {
        ObjectStore(
            ObjectStoreSettings(
                endpoint: endpoint, bucket: bucket, region: TestObjectStore.region,
                accessKey: TestObjectStore.accessKey, secretKey: secretKey),
            outbound: try Outbound())
    }

    private func bytes(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: UInt64(count))
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// Writes an object in pieces of 256 KiB.
    private func put(_ key: String, _ bytes: [UInt8], digest: [UInt8]? = nil, in store: ObjectStore? = nil) async throws
    {
        var rest = bytes[...]
        try await (store ?? self.store).put(
            key, contentType: "image/png", byteCount: bytes.count, digest: digest ?? SHA256.digest(bytes)
        ) {
            let piece = Array(rest.prefix(256 << 10))
            rest = rest.dropFirst(piece.count)
            return piece.isEmpty ? nil : piece
        }
    }

    private func get(_ key: String, _ range: Range<Int>, from store: ObjectStore? = nil) async throws -> [UInt8] {
        var found: [UInt8] = []
        try await (store ?? self.store).get(key, range: range) { found += $0 }
        return found
    }

    private func error(_ body: () async throws -> Void) async -> ObjectStoreError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ObjectStoreError
        }
    }

    @Test("returns what was written, in any part", arguments: [0, 1, 300_000, 3_000_000])
    func roundTrip(_ count: Int) async throws {
        let bytes = bytes(count)
        let key = "parley/round trip/ü+&=\(count)"
        try await put(key, bytes)
        if count > 0 { #expect(try await get(key, 0..<count) == bytes) }
        if count > 1_000 { #expect(try await get(key, 999..<(count - 1)) == Array(bytes[999..<(count - 1)])) }
        try await store.delete(key)
        #expect(await error { _ = try await get(key, 0..<1) } == .notFound)
        // A second deletion is none.
        try await store.delete(key)
    }

    @Test("writes nothing if the bytes are not those announced")
    func damaged() async throws {
        let bytes = bytes(600_000)
        // Of the right length: some stores refuse another one before they read the bytes.
        let digest = [UInt8](repeating: 1, count: 32)
        #expect(await error { try await put("parley/damaged", bytes, digest: digest) } == .damaged)
        #expect(try await !server.keys().contains("parley/damaged"))
    }

    @Test("reports refused credentials and a missing bucket as such, also when it deletes")
    func refused() async throws {
        let strange = try Self.store(server.endpoint, secretKey: "other")
        let nowhere = try Self.store(server.endpoint, bucket: "nowhere")
        for (store, reason) in [(strange, "403 SignatureDoesNotMatch"), (nowhere, "404 NoSuchBucket")] {
            let expected = ObjectStoreError.refused(reason: reason)
            #expect(await error { try await put("a", [1], in: store) } == expected)
            #expect(await error { _ = try await get("a", 0..<1, from: store) } == expected)
            #expect(await error { try await store.delete("a") } == expected)
        }
    }

    @Test("redirects a client that has no credentials, with the headers that it is to get")
    func redirect() async throws {
        let bytes = bytes(10_000)
        try await put("parley/redirect", bytes)
        let disposition = "attachment; filename*=UTF-8''caf%C3%A9%20%22x%22.png"
        let url = store.redirectURL(
            for: "parley/redirect",
            answering: .init(
                contentType: "application/octet-stream", contentDisposition: disposition, cacheControl: "no-store"),
            seconds: 300)
        let outbound = try Outbound()
        var exchange = StreamedExchange(.get, url: url)
        let answer = try await outbound.perform(exchange)
        #expect(answer.status == 200 && answer.body == bytes)
        #expect(answer.headers["content-type"] == "application/octet-stream")
        #expect(answer.headers["content-disposition"] == disposition)
        #expect(answer.headers["cache-control"] == "no-store")
        exchange.url = url.replacing("octet-stream", with: "html")
        #expect(try await outbound.perform(exchange).status == 403)
    }

    @Test("reports a store that is down, overloaded or breaks off, and works again after it")
    func faults() async throws {
        let bytes = bytes(2_000_000)
        try await put("parley/kept", bytes)
        for kind in [TestObjectStore.Fault.Kind.slowDown, .away, .drop, .lost] {
            try server.set(.init(kind, "PUT"), .init(kind, "GET"), .init(kind == .drop ? .away : kind, "DELETE"))
            for method in ["PUT", "GET", "DELETE"] {
                let error = await error {
                    switch method {
                    case "PUT": try await put("parley/\(kind)", bytes)
                    case "GET": _ = try await get("parley/kept", 0..<bytes.count)
                    default: try await store.delete("parley/\(kind)")
                    }
                }
                guard case .unavailable(let reason) = error else {
                    Issue.record("\(kind) \(method): \(String(describing: error))")
                    continue
                }
                // The answer to a PUT whose body nobody reads may be lost in a reset connection.
                if kind == .slowDown, method != "PUT" { #expect(reason == "503 SlowDown") }
            }
            try await put("parley/\(kind)", bytes)
            #expect(try await get("parley/\(kind)", 0..<bytes.count) == bytes)
            try await store.delete("parley/\(kind)")
        }
        try server.set(.init(.notFound, "DELETE"))
        try await store.delete("parley/kept")
        let dead = try Self.store("http://127.0.0.1:\(try Sockets.freePort())")
        guard case .unavailable = await error({ try await put("a", [1], in: dead) }) else {
            Issue.record("nothing listens there")
            return
        }
        #expect(try await !server.keys().contains { $0.hasPrefix("parley/") && !$0.hasPrefix("parley/redirect") })
    }

    @Test("transfers at the pace of a slow store")
    func slow() async throws {
        try server.set(.init(.slow, "PUT"), .init(.slow, "GET"))
        let bytes = bytes(1_500_000)
        try await put("parley/slow", bytes)
        #expect(try await get("parley/slow", 0..<bytes.count) == bytes)
        try await store.delete("parley/slow")
    }
}
