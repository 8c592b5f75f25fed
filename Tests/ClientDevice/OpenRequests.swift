// What the device waits for: a test that waits in vain shows it.

import Foundation
import Parley

/// Sends requests with URLSession, and knows those that are under way.
final class OpenRequests: HTTPTransport, @unchecked Sendable {
    // SAFETY: `open` and `count` are read and written only while `lock` is held.
    private let lock = NSLock()
    private var open: [Int: (line: String, since: ContinuousClock.Instant)] = [:]
    private var count = 0
    private let transport = SystemTransport()

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let number = lock.withLock {
            count += 1
            open[count] = ("\(request.method) \(request.url.path)", .now)
            return count
        }
        defer { lock.withLock { open[number] = nil } }
        return try await transport.send(request)
    }

    /// Each with how long it has been under way.
    var lines: [String] {
        lock.withLock { open.values.map { "\($0.line) for \($0.since.duration(to: .now))" } }
    }
}
