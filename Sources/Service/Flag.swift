// A signal without a value, between tasks and threads.
import Synchronization

/// Something that happened. From any thread.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }

    /// Returns whether the flag was set, and clears it.
    func take() -> Bool { value.exchange(false, ordering: .acquiringAndReleasing) }
}
