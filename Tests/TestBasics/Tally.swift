// A count that tasks and threads share.

import Synchronization

package final class Tally: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .acquiring) }

    package func add(_ number: Int = 1) { count.add(number, ordering: .acquiringAndReleasing) }
}

/// Set once, by one task or thread, and read by others.
package final class Flag: Sendable {
    private let value = Atomic(false)

    package init() {}

    package var isSet: Bool { value.load(ordering: .acquiring) }

    package func set() { value.store(true, ordering: .releasing) }
}
