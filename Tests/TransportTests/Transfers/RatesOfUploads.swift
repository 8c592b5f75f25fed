// A streamed body has a minimum rate instead of a total time.

import NIOCore
import Testing

@testable import Transport

@Suite("The rate of a streamed body", .timeLimit(.minutes(1)))
struct RatesOfUploads {
    private static func put(_ headers: String) -> String { "PUT /up HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n" }

    @Test("below the minimum ends it, and what arrived is delivered", arguments: [true, false])
    func tooSlow(isSilent: Bool) async throws {
        let received = Collected<Received>()
        try await withUploadServer(
            { $0.uploadRateWindow = .milliseconds(300) },
            consume: { request, reply in
                received.add(await Received(request))
                reply.send(OutboundResponse(status: .requestTimeout))
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            // The first bytes are enough for a while.
            try await client.send(Self.put("Content-Length: 1000000") + String(repeating: "x", count: 20_000))
            let answer = try await client.answer(whileDripping: !isSilent)
            #expect(answer.status == 408 && answer.headers["connection"] == "close")
            let all = try await received.next()
            #expect(all.error == .tooSlow && all.bytes.readableBytes >= 20_000)
            #expect(server.statistics.timeouts == 1)
        }
    }

    @Test("counts only while the server waits: not before the handler wants bytes, in its pauses, or after the end")
    func busyHandler() async throws {
        let body = pattern(20_000_000)
        let received = Collected<Received>()
        // This test is about time: each pause is longer than the window.
        let pause: @Sendable () async -> Void = {
            do { try await Task.sleep(for: .milliseconds(2_500)) } catch { return }
        }
        try await withUploadServer(
            { $0.uploadRateWindow = .seconds(2) },
            consume: { request, reply in
                await pause()
                let all = await Received(request) { _ in await pause() }
                await pause()
                received.add(all)
                reply.send(text("ok"))
            }
        ) { server in
            let client = try await RawClient.connect(server.port)
            try await client.send(Self.put("Content-Length: 20000000\r\nExpect: 100-continue"))
            #expect(try await client.expect("HTTP/1.1 100 Continue\r\n\r\n"))
            try await client.send(bytes: body)
            let all = try await received.next()
            #expect(all.error == nil && all.bytes == body)
            #expect(try await client.answer().body == "ok")
            #expect(server.statistics.timeouts == 0)
        }
    }

    // MARK: The meter

    private static let start = NIODeadline.uptimeNanoseconds(1)

    /// Runs a meter of 8 KiB/s over 30 s for five minutes. Returns the second in which it finds the client too slow.
    private func firstSlowSecond(
        isWaiting: (Int) -> Bool = { _ in true }, _ byteCount: (_ second: Int) -> Int
    ) -> Int? {
        var meter = UploadMeter(byteCountMin: 30 * 8 * 1024, window: .seconds(30))
        for second in 0..<300 {
            let now = Self.start + .seconds(Int64(second))
            if isWaiting(second) { meter.startWaiting(now) } else { meter.stopWaiting(now) }
            if meter.isTooSlow(now: now) { return second }
            meter.receive(byteCount(second))
        }
        return nil
    }

    @Test("is measured over a window that slides")
    func window() {
        #expect(firstSlowSecond { _ in 8 * 1024 } == nil)
        #expect(firstSlowSecond { $0 % 30 == 0 ? 30 * 8 * 1024 : 0 } == nil)
        #expect(firstSlowSecond { _ in 0 } == 30)
        #expect(firstSlowSecond { _ in 7 * 1024 } == 30)
        // Fast, then silent: earlier bytes do not help for longer than a window.
        for last in [10, 29, 100] {
            let second = firstSlowSecond { $0 <= last ? 10_000_000 : 0 } ?? .max
            #expect((last + 30...last + 34).contains(second), "\(last): \(second)")
        }
        // Waits for the server half of the time.
        #expect(firstSlowSecond(isWaiting: { $0 / 10 % 2 == 0 }) { _ in 5 * 1024 } == nil)
        let silent = firstSlowSecond(isWaiting: { $0 / 10 % 2 == 0 }) { _ in 0 } ?? .max
        #expect((50...60).contains(silent), "\(silent)")
        #expect(firstSlowSecond(isWaiting: { _ in false }) { _ in 0 } == nil)
    }
}
