// A client that waits, for tests that only want to know which.
@testable import Log

final class NumberedWaiter: Waiter {
    let number: Int
    init(_ number: Int) { self.number = number }
}

extension Wake {
    var numbers: [Int] { waiters.compactMap { ($0 as? NumberedWaiter)?.number } }
}
