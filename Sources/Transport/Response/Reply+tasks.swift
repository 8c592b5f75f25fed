// Answers requests by async code: one task for each request, on the connection's event loop. The API decides which
// requests need a task.

import NIOCore

/// A body that the task of its request writes, because it is too long for memory.
package struct StreamedBody: Sendable {
    /// The exact size. Nil if it is not known: the client then gets chunks.
    package let byteCount: Int?
    package let write: @Sendable (BodyWriter) async throws -> Void

    package init(byteCount: Int? = nil, _ write: @escaping @Sendable (BodyWriter) async throws -> Void) {
        self.byteCount = byteCount
        self.write = write
    }
}

/// Writes the body of one answer, for the task of its request.
///
/// A body of a known size up to 64 KiB is collected and sent with its head in one write. Others are streamed.
package final class BodyWriter {
    private static let collectedByteCountMax = 64 * 1024

    private let reply: Reply
    /// The whole answer, if it is collected.
    private var collected: OutboundResponse
    /// It is nil if the answer is collected.
    private let stream: ResponseStream?
    private var isFinished = false

    fileprivate init(_ reply: Reply, _ head: OutboundResponse, byteCount: Int?) {
        self.reply = reply
        collected = head
        collected.body = ByteBuffer()
        let isSmall = byteCount.map { $0 <= Self.collectedByteCountMax } ?? false
        stream = isSmall ? nil : reply.stream(head, byteCount)
    }

    /// Whether a part of the answer was sent, so that no other answer can be.
    fileprivate var hasSent: Bool { stream != nil || isFinished }

    /// Passes a piece to the connection, and returns when the client has taken enough for the next one. Throws if the
    /// client is gone.
    package func write(_ bytes: ByteBuffer) async throws {
        if let stream { return try await stream.write(bytes) }
        if collected.body.readableBytes == 0 {
            collected.body = bytes
        } else {
            collected.body.writeImmutableBuffer(bytes)
        }
    }

    /// Completes the answer, so that what the task does next happens after it. Optional: the end of the task's closure
    /// completes the answer, too.
    package func finish() {
        guard !isFinished else { return }
        isFinished = true
        if let stream { stream.end() } else { reply.send(collected) }
    }

    /// Cuts a streamed answer, from any thread, also while `write` waits for the client.
    package var aborter: @Sendable () -> Void { { [stream] in stream?.abort() } }

    fileprivate func abort() { stream?.abort() }
}

extension Reply {
    /// Answers `request` with the result of `work`. From any thread.
    ///
    /// The task is unstructured, because a channel's callback has no task to be a child of. Its owner is the
    /// connection: it holds the task as long as the request lasts, and cancels it when the client goes away or the
    /// server's drain ends. The drain waits for the task.
    /// - Parameters:
    ///   - outlivesClient: whether only the drain's end cancels the task. Always so for a streamed request body, because
    ///     the task stores what arrived before the client went away.
    ///   - work: returns a whole answer, or the head of one and its streamed body.
    ///   - problem: renders an error of `work`. Not called if the client is gone.
    package func answer(
        _ request: InboundRequest, outlivesClient: Bool = false,
        by work: @escaping @Sendable () async throws -> (OutboundResponse, StreamedBody?),
        problem: @escaping @Sendable (any Error) -> OutboundResponse
    ) {
        let executor = reference.executor
        let server = executor.server
        server.taskBegins()
        let number = outlivesClient || request.bodyStream != nil ? server.lastingTasks.begin() : nil
        let isHead = request.method == .head
        let task = Task(executorPreference: executor) { [self] in
            do {
                let (head, body) = try await work()
                if let body { try await send(head, body, isHead: isHead) } else { send(head) }
            } catch  where !isClientGone {
                send(problem(error))
            } catch {}
            server.taskEnded(lasting: number)
        }
        if let number {
            server.lastingTasks.store(task, at: number)
        } else {
            onClientGone(atHalfClose: false) { task.cancel() }
        }
    }

    /// Runs work that answers the request itself, or parks it. The task is as short as the work, which must have limits,
    /// and is cancelled when the client goes away.
    package func run(_ work: @escaping @Sendable () async -> Void) {
        let task = Task(operation: work)
        onClientGone { task.cancel() }
    }

    /// Throws an error of the body's writer if nothing was sent before it.
    private func send(_ head: OutboundResponse, _ body: StreamedBody, isHead: Bool) async throws {
        // Nobody would read the body, and it may be large.
        if isHead { return stream(head, body.byteCount).end() }
        let writer = BodyWriter(self, head, byteCount: body.byteCount)
        do {
            try await body.write(writer)
            writer.finish()
        } catch  where writer.hasSent {
            // The head has been sent, so closing the connection is the only way to report the error.
            if !isClientGone {
                reference.executor.server.logger.error(
                    "a streamed answer failed; closed the connection", metadata: ["error": "\(error)"])
            }
            writer.abort()
        }
    }

    fileprivate func stream(_ head: OutboundResponse, _ byteCount: Int?) -> ResponseStream {
        stream(head.status, headers: head.headers, contentLength: byteCount, operation: head.operation)
    }
}
