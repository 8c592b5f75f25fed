// A count that tasks and threads share.

import Synchronization

package final class Tally: Sendable {
    private let count = Atomic(0)

    package init() {}

    package var value: Int { count.load(ordering: .acquiring) }

    package func add(_ number: Int = 1) { count.add(number, ordering: .acquiringAndReleasing) }
}
