// Pictures with random changes.
import Foundation
import TestSupport
import Testing
import Thumbnailing

@Suite("A picture with random changes", .timeLimit(.minutes(Fuzzing.minutesMax)))
struct RandomPictures {
    /// A process each, so one for 200 of the inputs that PicturesTests read. PARLEY_FUZZ_INPUTS=1000000 starts 5,000
    /// processes; PARLEY_SEED repeats a run.
    private static let count = (Fuzzing.inputCount ?? 10_000) / 200

    @Test("is drawn or refused: no process hangs, breaks the sandbox's rules or fails in another way")
    func mutations() async throws {
        let pillow = try await Pillow("make")
        let corpus = try pillow.names.map(pillow.bytes).filter { $0.count < 300_000 }
        var random = SplitMix64(seed: Fuzzing.seed)
        var tally: [String: Int] = [:]
        for round in 0..<Self.count {
            let bytes = Self.mutate(corpus[random.below(corpus.count)], corpus, &random)
            let drawing = try await draw(bytes)
            switch drawing {
            case .drawn: tally["drawn", default: 0] += 1
            case .unreadable: tally["unreadable", default: 0] += 1
            case .tooLarge: tally["too large", default: 0] += 1
            // The limits of processor time and memory.
            case .killed(SIGXCPU): tally["killed", default: 0] += 1
            case .killed, .timedOut, .missing, .failed:
                Issue.record("seed \(Fuzzing.seed), round \(round): \(drawing)")
                try Data(bytes).write(to: URL(filePath: "/tmp/parley-fuzz-\(Fuzzing.seed)-\(round)"))
            }
        }
        print("random pictures, seed \(Fuzzing.seed): \(tally)")
    }

    private static func mutate(
        _ picture: [UInt8], _ corpus: [[UInt8]], _ random: inout SplitMix64
    ) -> [UInt8] {
        var bytes = picture
        for _ in 0...random.below(8) {
            // Half of the changes are in the first bytes, where the structure is.
            let at = random.below(random.chance(2) ? min(200, bytes.count) : bytes.count)
            let end = min(bytes.count, at + 1 + random.below(64))
            switch random.below(7) {
            case 0, 1: bytes[at] = UInt8(random.below(256))
            case 2: bytes[at] ^= 1 << UInt8(random.below(8))
            case 3: bytes[at] = [0, 1, 127, 128, 255][random.below(5)]
            case 4: bytes.insert(contentsOf: bytes[at..<end], at: at)
            case 5 where bytes.count > 100: bytes.removeSubrange(at..<end)
            default:
                let other = corpus[random.below(corpus.count)]
                let start = random.below(other.count)
                let part = other[start..<min(other.count, start + end - at)]
                bytes.replaceSubrange(at..<at + min(part.count, bytes.count - at), with: part)
            }
        }
        return random.chance(4) ? Array(bytes.prefix(random.below(bytes.count))) + [0] : bytes
    }
}
