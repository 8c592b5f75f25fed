// The right to answer one request, and answering many at once. What is written, and where, is `HTTPConnection`'s.

import HTTPTypes
import NIOCore
import Synchronization

/// How other threads hold a connection: its loop, and whether it is gone.
final class ConnectionReference: Sendable {
    let connection: NIOLoopBound<HTTPConnection>
    let executor: LoopTaskExecutor
    let isClosed = Atomic(false)

    init(_ connection: HTTPConnection, eventLoop: any EventLoop) {
        self.executor = connection.loop.executor
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    /// Runs `body` on the connection's loop: at once if this is its thread. A closed connection's is dropped.
    func onLoop(_ body: @escaping @Sendable (HTTPConnection) -> Void) {
        guard !isClosed.load(ordering: .acquiring) else { return }
        if connection.eventLoop.inEventLoop {
            body(connection.value)
        } else {
            connection.eventLoop.execute { body(self.connection.value) }
        }
    }
}

/// The right to answer one request, once.
///
/// Letting go of it without an answer gives the client the handler's `.unanswered` problem, so no request hangs.
///
/// A client counts as gone when its connection breaks, and also when it only closes its sending side while it waits:
/// nothing tells the two apart before something is sent. So with ``onClientGone(_:)`` registered the request ends at
/// once; without, as for an ordinary short request, it may still be answered for ``TransportSettings/halfCloseGrace``,
/// and clients that do half-close (`nc -N`) get their answer.
package final class Reply: Sendable {
    let handle: ConnectionReference
    /// Which request of its connection this answers.
    let id: UInt32
    private let isUsed = Atomic(false)

    init(handle: ConnectionReference, id: UInt32) {
        self.handle = handle
        self.id = id
    }

    deinit {
        guard take(), !isClientGone else { return }
        // Never at once, even on the loop: who lets go of it may hold a lock that the next request's handler wants.
        eventLoop.execute { [handle, id] in handle.connection.value.answerUnanswered(id) }
    }

    package var eventLoop: any EventLoop { handle.connection.eventLoop }

    /// Whether the connection is known to be gone, so that an answer would be dropped.
    package var isClientGone: Bool { handle.isClosed.load(ordering: .acquiring) }

    /// Answers. From any thread; dropped if the client has gone. A second call is a fault of the caller's: it stops a
    /// debug build and is ignored in a release build.
    package func send(_ response: OutboundResponse) {
        guard claim() else { return }
        handle.onLoop { [id] in $0.answer(id, response) }
    }

    /// Answers with a body that comes piece by piece. From any thread; a second answer is treated as in ``send(_:)``.
    /// The client gets chunks, or exactly `contentLength` bytes where that is given: the caller must keep to it.
    package func stream(
        _ status: HTTPResponse.Status, headers: HTTPFields, contentLength: Int? = nil, operation: UInt8 = 0
    ) -> ResponseStream {
        let stream = ResponseStream(handle: handle, id: id)
        guard claim() else { return stream }
        handle.onLoop { [id] in $0.startStream(id, status, headers, contentLength: contentLength, operation: operation)
        }
        return stream
    }

    /// Answers with a body that `source` has, and is asked for piece by piece; `first` begins it. From any thread; a second
    /// answer is treated as in ``send(_:)``. The time that such an answer takes is not reported.
    package func stream(
        _ status: HTTPResponse.Status, headers: HTTPFields, operation: UInt8 = 0, first: ByteBuffer,
        source: any StreamSource
    ) {
        guard claim() else { return }
        handle.onLoop { [id] in
            $0.startStream(id, status, headers, operation: operation, first: first, source: source)
        }
    }

    /// The body of the answer that this was used for.
    package var body: ResponseStream { ResponseStream(handle: handle, id: id) }

    /// Calls `body` once, on the event loop, if the client goes away before the answer; at once if it has gone. The
    /// last registered one counts. From any thread. See the type for what gone means.
    package func onClientGone(_ body: @escaping @Sendable () -> Void) {
        onClientGone(atHalfClose: true, body)
    }

    /// - Parameter atHalfClose: whether the client's closing its sending side is enough, or gets the grace.
    func onClientGone(atHalfClose: Bool, _ body: @escaping @Sendable () -> Void) {
        if isClientGone {
            eventLoop.execute(body)
        } else {
            handle.onLoop { [id] in $0.setGoneHandler(id, atHalfClose: atHalfClose, body) }
        }
    }

    /// True for the first to ask.
    fileprivate func take() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }

    fileprivate func claim() -> Bool {
        let isFirst = take()
        assert(isFirst, "a request must be answered once")
        return isFirst
    }
}

/// Sends each answer to all of its replies, with one hop to each event loop concerned and one rendering there.
package func sendAll(_ answers: [(response: OutboundResponse, replies: [Reply])]) {
    typealias Target = (handle: ConnectionReference, id: UInt32)
    var batches: [(executor: LoopTaskExecutor, answers: [(response: OutboundResponse, targets: [Target])])] = []
    for (response, replies) in answers {
        var targets: [[Target]] = Array(repeating: [], count: batches.count)
        for reply in replies where reply.claim() && !reply.isClientGone {
            let executor = reply.handle.executor
            // There are as many batches as event loops: a handful.
            let index = batches.firstIndex { $0.executor === executor } ?? batches.count
            if index == batches.count {
                batches.append((executor, []))
                targets.append([])
            }
            targets[index].append((reply.handle, reply.id))
        }
        for (index, targets) in targets.enumerated() where !targets.isEmpty {
            batches[index].answers.append((response, targets))
        }
    }
    for batch in batches {
        batch.executor.eventLoop.execute {
            for (response, targets) in batch.answers {
                var shared: SharedAnswer?
                for (handle, id) in targets where !handle.isClosed.load(ordering: .relaxed) {
                    handle.connection.value.answer(id, response, sharing: &shared)
                }
            }
        }
    }
}
