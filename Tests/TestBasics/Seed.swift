// The seed of a random test: new in each run, printed, and the same again on request.

import Foundation

package enum Seed {
    /// Returns a new seed and prints it with the test's name, so that the output of a failed run has it. The environment
    /// variable `PARLEY_SEED`, a decimal number, replaces the seeds of all tests.
    package static func fresh(_ name: String) -> UInt64 {
        let seed: UInt64
        if let text = ProcessInfo.processInfo.environment["PARLEY_SEED"], !text.isEmpty {
            guard let given = UInt64(text) else { fatalError("PARLEY_SEED is no decimal number: \(text)") }
            seed = given
        } else {
            // 32 bits: short enough to be typed.
            seed = UInt64(UInt32.random(in: .min ... .max))
        }
        print("◇ The seed of \"\(name)\" is \(seed): repeat with PARLEY_SEED=\(seed).")
        return seed
    }
}

extension SplitMix64 {
    /// Makes a generator with a new seed that is printed.
    package init(freshFor name: String) { self.init(seed: Seed.fresh(name)) }
}
