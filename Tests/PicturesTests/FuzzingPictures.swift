import Foundation
import TestSupport
import Testing

@testable import Pictures

/// Nearly legal pictures. PARLEY_FUZZ_INPUTS=1000000 tries a million; PARLEY_SEED=7 repeats a run.
@Suite("Fuzzing pictures", .timeLimit(.minutes(Fuzzing.minutesMax)))
struct FuzzingPictures {
    private static let inputCount = Fuzzing.inputCount ?? 2_000

    private static let words: [[UInt8]] =
        [
            "IHDR", "IDAT", "acTL", "eXIf", "tEXt", "IEND", "VP8X", "VP8 ", "VP8L", "ALPH", "ANMF", "EXIF", "XMP ",
            "RIFF",
        ]
        .map { Array($0.utf8) } + [
            [0xff, 0xd8], [0xff, 0xd9], [0xff, 0xda, 0, 2], [0xff, 0xe1, 0xff, 0xff], [0xff, 0xe0, 0, 2], [0xff, 0xff],
            [0xff], [0xff, 0], [0xff, 0xd3], [0x21, 0xff, 11], [0x21, 0xf9, 4], [0x2c], [0x3b], [0, 0, 0, 0],
            [0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0x7f], [0, 0, 0, 1], [1, 0, 0, 0],
        ]

    @Test("a copy is never larger than the picture, readable, clean, and the same for all ways to cut the input")
    func law() throws {
        let corpus = try TestPictures(width: 24, height: 16).all().map(\.bytes).filter { $0.count < 20_000 }
        #expect(corpus.count > 40)
        var mutations = Mutations(of: corpus, words: Self.words, seed: Fuzzing.seed)
        var readable = 0
        for number in 0..<Self.inputCount {
            let input = mutations.next()
            // Words of the pictures' own types go astray into others too.
            guard let type = MediaType.sniff(input), var scanner = PictureScanner(type) else { continue }
            let pieces = input.pieces(ofAtMost: 10 + mutations.random.below(5_000), &mutations.random)
            do {
                for piece in pieces { try scanner.scan(piece) }
                _ = try scanner.finish()
            } catch { continue }
            readable += 1
            let once = try CleanPicture(cleaning: input)
            let cut = try clean(pieces: pieces)
            guard cut.output == once.bytes, cut.picture.cleanByteCount == once.bytes.count,
                cut.picture.header == once.header, once.bytes.count <= input.count + 4,
                try CleanPicture(cleaning: once.bytes) == once
            else {
                Issue.record("input \(number) of PARLEY_SEED=\(Fuzzing.seed): \(Data(input).base64EncodedString())")
                return
            }
        }
        #expect(readable > Self.inputCount / 10)
    }

    @Test("random bytes after a signature end in an error or a picture")
    func noise() {
        var random = SplitMix64(seed: Fuzzing.seed)
        let heads: [(MediaType, [UInt8])] = [
            (.jpeg, [0xff, 0xd8, 0xff]), (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
            (.gif, Array("GIF89a".utf8)), (.webp, Array("RIFF\u{7f}\u{7f}\0\0WEBP".utf8)),
        ]
        for _ in 0..<(Self.inputCount / 10) {
            let (type, head) = heads[random.below(heads.count)]
            let bytes = head + (0..<random.below(600)).map { _ in UInt8(random.below(256)) }
            _ = MediaType.sniff(bytes)
            if var scanner = PictureScanner(type), (try? scanner.scan(bytes)) != nil { _ = try? scanner.finish() }
        }
    }
}
