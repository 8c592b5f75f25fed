// A value that is made after the components that read it.
import Synchronization

/// A value that is nil until `set` is called. From any thread.
final class Later<Value: Sendable>: Sendable {
    private let stored = Mutex<Value?>(nil)

    var value: Value? { stored.withLock { $0 } }
    func set(_ value: Value) { stored.withLock { $0 = value } }
}
