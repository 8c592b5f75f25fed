// How long a model follows its lists: while at least one view shows it.
import Parley

/// Runs one operation while at least one caller waits for it.
@MainActor
final class SharedRun {
    private var operation: Task<Void, Never>?
    private var callers: [Int: AsyncStream<Never>.Continuation] = [:]
    private var nextCaller = 0

    /// Starts the operation, or joins it if it runs already. Returns when the operation has ended or the caller is cancelled.
    /// The last caller to leave cancels the operation.
    func join(_ body: @escaping @MainActor @Sendable () async -> Void) async {
        let (stay, leave) = AsyncStream.makeStream(of: Never.self)
        let caller = nextCaller
        nextCaller += 1
        callers[caller] = leave
        if operation == nil {
            operation = Task {
                await body()
                // A cancelled operation has lost its callers already, and there may be new ones.
                guard !Task.isCancelled else { return }
                operation = nil
                for caller in callers.values { caller.finish() }
            }
        }
        for await _ in stay {}
        callers[caller] = nil
        guard callers.isEmpty else { return }
        operation?.cancel()
        operation = nil
    }
}

/// Runs an operation again each time that what it depends on has changed.
@MainActor
final class Restarting {
    private var current: Task<Void, Never>?
    private var isStale = false

    /// Runs the operation, and again after each `restart()`. Returns when it has ended by itself or the caller is cancelled.
    func run(_ operation: @escaping @MainActor @Sendable () async -> Void) async {
        repeat {
            isStale = false
            let task = Task { await operation() }
            current = task
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            // The next view's run may have begun.
            if current == task { current = nil }
        } while isStale && !Task.isCancelled
    }

    /// Ends the operation and starts it again. Does nothing if it does not run.
    func restart() {
        isStale = true
        current?.cancel()
    }
}

/// Values of which only the newest counts, for one reader at a time. A value that nobody has read waits for the next reader.
@MainActor
final class Newest<Value: Sendable> {
    private var waiting: Value?
    private var reader: AsyncStream<Value>.Continuation?

    func send(_ value: Value) {
        // A full buffer drops its old value and keeps this one. Nil: nobody has read yet. Terminated: the reader has left.
        switch reader?.yield(value) {
        case .enqueued, .dropped: break
        default: waiting = value
        }
    }

    func values() -> AsyncStream<Value> {
        let (values, reader) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        self.reader = reader
        if let waiting { reader.yield(waiting) }
        waiting = nil
        return values
    }
}

/// Runs the parts of a model side by side, until all have ended.
@MainActor
func together(_ parts: @MainActor @Sendable () async -> Void...) async {
    await withDiscardingTaskGroup { group in
        for part in parts { group.addTask { await part() } }
    }
}

extension AsyncSequence where Element: Sendable {
    /// Calls `receive` with each element until the caller is cancelled: never afterwards, as another run may have begun.
    @MainActor
    func follow(_ receive: @MainActor (Element) -> Void) async {
        do {
            for try await element in self {
                if Task.isCancelled { return }
                receive(element)
            }
        } catch {
            // The client's sequences never throw. iOS 17 has no way to say so for all of them.
        }
    }
}
