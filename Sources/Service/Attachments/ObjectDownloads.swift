// Downloads from the object store, as the API asks for them.
import API
import Logging
import ObjectStore
import Telemetry

struct ObjectDownloads: ObjectAccess {
    /// Requests at once on a node; more wait. Each buffers at most 512 KiB.
    static let transferCountMax = 128
    /// Before the second try. A store closes kept connections, and answers some requests with 503.
    private static let retryAfter = Duration.milliseconds(200)
    /// How long a redirect's URL is valid.
    private static let redirectSeconds = 300

    let objects: ObjectStore
    /// Whether clients are redirected to the store.
    let redirects: Bool
    private let log: RateLimitedLog

    init(objects: ObjectStore, redirects: Bool, logger: Logger) {
        self.objects = objects
        self.redirects = redirects
        log = RateLimitedLog(logger)
    }

    func read(_ key: String, _ range: Range<Int>) async throws -> [UInt8]? {
        do {
            do {
                return try await readOnce(key, range)
            } catch ObjectStoreError.unavailable {
                try await Task.sleep(for: Self.retryAfter)
                return try await readOnce(key, range)
            }
        } catch ObjectStoreError.notFound {
            return nil
        } catch let error as ObjectStoreError {
            log.warning("reading from the object store failed; the client gets 503", reason: "\(error)")
            throw error
        }
    }

    private func readOnce(_ key: String, _ range: Range<Int>) async throws -> [UInt8] {
        guard !range.isEmpty else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        try await objects.get(key, range: range) { bytes += $0 }
        return bytes
    }

    func url(of key: String, type: String, disposition: String) -> String? {
        guard redirects else { return nil }
        // The URL is new for each redirect, so a cached answer would never be used.
        return objects.redirectURL(
            for: key,
            answering: .init(contentType: type, contentDisposition: disposition, cacheControl: "no-store"),
            seconds: Self.redirectSeconds)
    }
}
