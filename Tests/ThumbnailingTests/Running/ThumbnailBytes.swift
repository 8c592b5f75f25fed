// The format between the two executables.
import Testing
import ThumbnailFormat

@Suite("An encoded thumbnail", .timeLimit(.minutes(1)))
struct ThumbnailBytes {
    private let thumbnail = Thumbnail(
        format: .webP, width: 640, height: 1, thumbhash: Array(1...25), bytes: Array(repeating: 7, count: 70_000))

    @Test("is decoded to the same thumbnail")
    func roundTrip() {
        #expect(Thumbnail(encoded: thumbnail.encoded) == thumbnail)
        #expect(thumbnail.format.mediaType == "image/webp")
    }

    @Test("is refused when it is short, long, or out of its limits")
    func malformed() {
        let encoded = thumbnail.encoded
        for count in [0, 4, 14, 15, 16, 40, encoded.count - 1] {
            #expect(Thumbnail(encoded: Array(encoded.prefix(count))) == nil)
        }
        #expect(Thumbnail(encoded: encoded + [0]) == nil)
        // Magic, version, type, width 0, height 0, no hash.
        for (offset, value) in [(0, 0), (4, 2), (5, 3), (6, 9), (9, 0), (10, 0), (10, 26)] {
            var changed = encoded
            changed[offset] = UInt8(value)
            #expect(Thumbnail(encoded: changed) == nil, "\(offset)")
        }
        var long = thumbnail
        long.bytes = Array(repeating: 7, count: Thumbnail.encodedByteCountMax)
        #expect(Thumbnail(encoded: long.encoded) == nil)
    }
}
