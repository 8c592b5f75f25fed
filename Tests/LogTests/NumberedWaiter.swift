// A waiting client with a number, for tests that check which one was answered.
@testable import Log

final class NumberedWaiter: Waiter {
    let number: Int
    init(_ number: Int) { self.number = number }
}

extension Wake {
    var numbers: [Int] { waiters.compactMap { ($0 as? NumberedWaiter)?.number } }
}
