// Nearly legal inputs: legal ones with a few changes, the same for the same seed.

import Foundation

package struct Mutations {
    package var random: SplitMix64
    private let corpus: [[UInt8]]
    /// Pieces that have a meaning for the tested code.
    private let words: [[UInt8]]

    package init(of corpus: [String], words: [String] = [], seed: UInt64) {
        let usual = ["", "\0", "\u{7f}", "\u{fffd}", "\u{1F469}\u{200D}\u{1F469}"]
        self.init(of: corpus.map { Array($0.utf8) }, words: (words + usual).map { Array($0.utf8) }, seed: seed)
    }

    package init(of corpus: [[UInt8]], words: [[UInt8]], seed: UInt64) {
        random = SplitMix64(seed: seed)
        self.corpus = corpus
        self.words = words
    }

    package mutating func next() -> [UInt8] {
        var bytes = corpus[random.below(corpus.count)]
        for _ in 0..<random.below(6) { mutate(&bytes) }
        return bytes
    }

    /// The next input as UTF-8. Invalid bytes become replacement characters, as in a target that was not UTF-8.
    package mutating func nextText() -> String { String(decoding: next(), as: UTF8.self) }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let at = random.below(bytes.count + 1)
        let end = min(bytes.count, at + random.below(9))
        switch random.below(9) {
        case 0 where at < bytes.count: bytes[at] ^= 1 << UInt8(random.below(8))
        case 1 where at < bytes.count: bytes[at] = UInt8(random.below(256))
        case 2: bytes.insert(UInt8(random.below(256)), at: at)
        case 3: bytes.removeSubrange(at..<end)
        case 4: bytes.insert(contentsOf: bytes[at..<end], at: at)
        case 5: bytes.insert(contentsOf: words[random.below(words.count)], at: at)
        case 6: bytes.replaceSubrange(at..<end, with: words[random.below(words.count)])
        case 7: bytes.removeSubrange(at...)
        default:
            // The end of another input.
            let other = corpus[random.below(corpus.count)]
            bytes.replaceSubrange(at..., with: other[random.below(other.count + 1)...])
        }
    }
}

/// How long fuzzing lasts: seconds in a usual run. `FUZZ_SECONDS=300 PARLEY_SEED=7` let each last for minutes by
/// hand, and do the same again.
package enum Fuzzing {
    private static let environment = ProcessInfo.processInfo.environment
    package static let seed = Seed.fresh("fuzzing")
    private static let seconds = environment["FUZZ_SECONDS"].flatMap { Int($0) }
    private static let roundCount = 20_000
    /// How many pictures the long form tries; nil in a usual run.
    package static let inputCount = environment["PARLEY_FUZZ_INPUTS"].flatMap { Int($0) }
    /// The time limit of a suite, in minutes: one for a usual run, and what the long form needs beside other work.
    package static var minutesMax: Int { 1 + (seconds ?? 0) / 30 + (inputCount ?? 0) / 20_000 }

    /// Calls `body` with each input, some ten thousand times, or for the seconds asked for.
    package static func run(
        _ corpus: [String], words: [String] = [], _ body: (inout Mutations) throws -> Void
    ) rethrows {
        var mutations = Mutations(of: corpus, words: words, seed: seed)
        let deadline = seconds.map { ContinuousClock.now + .seconds($0) }
        var round = 0
        while deadline.map({ ContinuousClock.now < $0 }) ?? (round < roundCount) {
            for _ in 0..<100 { try body(&mutations) }
            round += 100
        }
    }
}
