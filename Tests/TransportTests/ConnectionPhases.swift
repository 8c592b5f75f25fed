// What each phase of a connection allows, and that a waiting request stays small.

import NIOCore
import Testing

@testable import Transport

@Suite("A connection's phase", .timeLimit(.minutes(1)))
struct ConnectionPhases {
    private static let now = NIODeadline.uptimeNanoseconds(1)

    private static func request(goneHandler: GoneHandler? = nil) -> RequestState {
        var request = RequestState(
            number: RequestNumber(value: 1), start: now, id: 1, originNumber: 0, isHead: false, isHTTP10: false,
            keepsAlive: true)
        request.countedBodyByteCount = 20_000
        request.goneHandler = goneHandler
        return request
    }

    private static var stream: BodyStream {
        BodyStream(framing: .chunked, operation: 0, status: 200, took: nil, source: nil)
    }

    @Test("accepts a request only while none is answered, and input until the last answer")
    func accepts() {
        let rows: [(phase: ConnectionPhase, request: Bool, input: Bool)] = [
            (.new(since: Self.now), true, true), (.head, true, true), (.body, true, true),
            (.idle(since: Self.now), true, true), (.waiting(Self.request()), false, true),
            (.streaming(Self.request(), Self.stream), false, true), (.dropping, false, true),
            (.lingering, false, false), (.closed, false, false),
        ]
        for (phase, request, input) in rows {
            #expect(phase.acceptsRequest == request && phase.acceptsInput == input, "\(phase)")
        }
    }

    @Test("counts a large body as long as its request is answered")
    func body() {
        #expect(ConnectionPhase.waiting(Self.request()).countedBodyByteCount == 20_000)
        #expect(ConnectionPhase.streaming(Self.request(), Self.stream).countedBodyByteCount == 20_000)
        #expect(ConnectionPhase.idle(since: Self.now).countedBodyByteCount == 0)
    }

    @Test("ends a request at the client's half-close only if its handler asked for it")
    func halfClose() {
        #expect(!Self.request().endsAtHalfClose)
        #expect(!Self.request(goneHandler: GoneHandler(isCalledAtHalfClose: false, run: {})).endsAtHalfClose)
        #expect(Self.request(goneHandler: GoneHandler(isCalledAtHalfClose: true, run: {})).endsAtHalfClose)
    }

    @Test("costs a waiting poll less than 100 bytes")
    func size() {
        #expect(MemoryLayout<ConnectionPhase>.size < 100, "\(MemoryLayout<ConnectionPhase>.size)")
    }
}
