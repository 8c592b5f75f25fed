// Signals from one task to another that there is work.

/// Wake-ups of a task. Those that come while the task is busy are kept as one. Several tasks may iterate: each wake-up
/// goes to one of them.
package struct WakeUps: AsyncSequence, Sendable {
    private let pipe = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    package init() {}

    /// From any thread.
    package func wake() { pipe.continuation.yield() }

    /// Ends when the iterating task is cancelled.
    package func makeAsyncIterator() -> AsyncStream<Void>.Iterator { pipe.stream.makeAsyncIterator() }
}
