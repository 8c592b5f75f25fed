// The placeholder of pictures, compared with the reference implementation.
import Foundation
import Linux
import TestSupport
import Testing

@testable import parley_thumbnailer

@Suite("A thumbhash", .timeLimit(.minutes(1)))
struct Thumbhashes {
    /// Computed with thumbhash.js (https://github.com/evanw/thumbhash, a652ce6).
    private static let known: [(width: Int, height: Int, isTransparent: Bool, hash: String)] = [
        (100, 100, false, "def7050f0210647601527722845a856ba67727107430120e"),
        (100, 37, false, "9cf709138210748844a77a9703c808a6a8"),
        (20, 90, false, "58e70d1a087570487988787784803d35fa"),
        (100, 100, true, "dcf7850d00261264015222546504332820e18f888b87788888"),
        (64, 11, true, "10088e19842b808786888780780788778f788888778788"),
        (13, 80, true, "14b78d21041c767068987776842ff9bd7a788f88878888"),
    ]

    @Test("of a known picture is the expected one")
    func pinned() {
        for known in Self.known {
            var bitmap = Bitmap(size: PixelSize(width: known.width, height: known.height), channelCount: 4)
            var index = 0
            for y in 0..<known.height {
                for x in 0..<known.width {
                    for channel in 0..<3 {
                        let value = x * x * (3 - channel) + 7 * x * y + y * y * (channel + 1) + channel * 1_000
                        bitmap.bytes[index + channel] = UInt8(truncatingIfNeeded: value >> 6)
                    }
                    bitmap.bytes[index + 3] = known.isTransparent ? UInt8(max(0, 255 - 2 * x - y)) : 255
                    index += 4
                }
            }
            #expect(hex(Thumbhash.encode(bitmap)) == known.hash)
        }
    }

    @Test(
        "equals that of the reference implementation in Rust, for random pictures",
        .enabled("PyPI's fast_thumbhash is not installed (.ci/deps test)") {
            Tool.permits(try await ReferenceThumbhash.hashes(of: []) != nil)
        })
    func reference() async throws {
        var random = SplitMix64(seed: Fuzzing.seed)
        let pictures = (0..<60).map { _ in Self.picture(&random) }
        let hashes = try #require(try await ReferenceThumbhash.hashes(of: pictures))
        for (picture, hash) in zip(pictures, hashes) {
            let own = hex(Thumbhash.encode(picture))
            #expect(own.count == hash.count)
            // The crate computes with 32 bits, so a factor of four bits may be rounded the other way.
            let isNear = zip(own, hash).allSatisfy { abs(($0.hexDigitValue ?? 99) - ($1.hexDigitValue ?? 0)) <= 1 }
            #expect(isNear, "seed \(Fuzzing.seed), \(picture.size): \(own), not \(hash)")
        }
    }

    /// A smooth picture of a random size, with some noise; half of them have alpha.
    private static func picture(_ random: inout SplitMix64) -> Bitmap {
        let size = PixelSize(width: 1 + random.below(100), height: 1 + random.below(100))
        var bitmap = Bitmap(size: size, channelCount: 4)
        let hasAlpha = random.chance(2)
        let slopes = (0..<8).map { _ in random.below(5) - 2 }
        for index in bitmap.bytes.indices {
            let (x, y, channel) = (index / 4 % size.width, index / 4 / size.width, index % 4)
            let value = 128 + slopes[channel] * x + slopes[channel + 4] * y + random.below(20)
            bitmap.bytes[index] = channel == 3 && !hasAlpha ? 255 : UInt8(max(0, min(255, value)))
        }
        return bitmap
    }
}

/// The reference implementation, from PyPI. Not a member of the suite, whose trait calls it.
private enum ReferenceThumbhash {
    private static let script = """
        import fast_thumbhash, sys
        for line in open(sys.argv[1]):
            width, height, pixels = line.split()
            print(bytes(fast_thumbhash.rgba_to_thumb_hash(int(width), int(height), bytes.fromhex(pixels))).hex())
        """

    /// The hashes by the reference implementation; nil if it is not installed.
    static func hashes(of pictures: [Bitmap]) async throws -> [String]? {
        let directory = try TemporaryDirectory()
        var text = ""
        for picture in pictures { text += "\(picture.size.width) \(picture.size.height) \(hex(picture.bytes))\n" }
        let file = directory.path + "/pictures"
        try Files.write(text, to: file, mode: 0o644, owner: nil)
        let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
        let python = Program(
            executable: "/usr/bin/python3", arguments: ["-c", script, file], environment: ["LC_ALL=C", "HOME=\(home)"])
        let (status, output) = try await python.run()
        if output.contains("ModuleNotFoundError") { return nil }
        try #require(status == 0, "\(output)")
        return output.split(separator: "\n").map(String.init)
    }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
}
