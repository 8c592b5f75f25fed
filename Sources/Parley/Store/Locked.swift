// A value behind a lock. `Synchronization.Mutex` needs iOS 18, and this package supports iOS 17.
import Foundation

final class Locked<Value>: @unchecked Sendable {
    // SAFETY: `value` is read and written only while `lock` is held.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
