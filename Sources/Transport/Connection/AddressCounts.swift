// The number of connections of each client address, on all event loops.

import Basics
import Synchronization

/// Counts connections by client address. From any thread.
final class AddressCounts: Sendable {
    private let counts = Mutex<[IPAddress: Int]>([:])

    /// Adds a connection. Returns how many the address has now.
    func add(_ address: IPAddress) -> Int {
        counts.withLock { counts in
            let count = (counts[address] ?? 0) + 1
            counts[address] = count
            return count
        }
    }

    func remove(_ address: IPAddress) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count > 1 ? count - 1 : nil
        }
    }
}
