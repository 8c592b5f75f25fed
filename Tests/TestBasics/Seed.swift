// The seed of a random test: new in each run, printed, and the same again on request.

import Foundation

/// New seeds. The environment variable `PARLEY_SEED`, a decimal number, replaces all of them.
package enum Seed {
    private static let given: UInt64? = {
        guard let text = ProcessInfo.processInfo.environment["PARLEY_SEED"], !text.isEmpty else { return nil }
        guard let seed = UInt64(text) else { fatalError("PARLEY_SEED is no decimal number: \(text)") }
        return seed
    }()

    /// 32 bits: short enough to be typed.
    private static func random() -> UInt64 { UInt64(UInt32.random(in: .min ... .max)) }

    /// Returns a new seed and prints it with the test's name, so that the output of a failed run has it.
    package static func fresh(_ name: String) -> UInt64 {
        let seed = given ?? random()
        print("◇ The seed of \"\(name)\" is \(seed): repeat with PARLEY_SEED=\(seed).")
        return seed
    }

    /// Returns new seeds as the arguments of a test. All are drawn from one seed, which is printed and repeats them.
    package static func fresh(_ name: String, count: Int) -> [UInt64] {
        var random = SplitMix64(freshFor: name)
        return (0..<count).map { _ in random.next() >> 32 }
    }
}

extension SplitMix64 {
    /// Makes a generator with a new seed that is printed.
    package init(freshFor name: String) { self.init(seed: Seed.fresh(name)) }
}
