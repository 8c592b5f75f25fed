import TestSupport
import Testing

@testable import Pictures

@Suite("Reading headers of pictures", .timeLimit(.minutes(1)))
struct ReadingHeaders {
    private func header(_ name: String) throws -> PictureHeader {
        try CleanPicture(cleaning: TestPictures.shared().bytes(name)).header
    }

    @Test("returns sides as displayed, for all eight orientations", arguments: 1...8)
    func orientations(orientation: Int) throws {
        for ending in ["jpg", "png", "webp"] {
            let header = try header("orientation\(orientation).\(ending)")
            #expect(header.orientation == orientation, "\(ending)")
            #expect(header.width == (orientation < 5 ? 150 : 100), "\(ending)")
            #expect(header.height == (orientation < 5 ? 100 : 150), "\(ending)")
            #expect(!header.isAnimated && !header.hasAlpha && header.isDrawable, "\(ending)")
        }
    }

    @Test(
        "counts frames", arguments: [("animated.png", 3), ("animated.gif", 4), ("animated.webp", 3), ("still.gif", 1)])
    func frames(name: String, count: Int) throws {
        let header = try header(name)
        #expect(header.frameCount == count)
        #expect(header.isAnimated == (count > 1))
        #expect((header.width, header.height) == (150, 100))
    }

    @Test(
        "detects pictures that may be transparent",
        arguments: ["alpha.png", "gray_alpha.png", "palette.png", "still.gif", "alpha.webp", "alpha_lossless.webp"])
    func transparent(name: String) throws { #expect(try header(name).hasAlpha) }

    @Test("detects opaque pictures", arguments: ["rgb16.png", "one_bit.png", "simple.webp", "cmyk.jpg"])
    func opaque(name: String) throws { #expect(try !header(name).hasAlpha) }

    @Test("accepts at most 50 megapixels, and 16,384 pixels a side, for drawing")
    func drawable() {
        func isDrawable(_ width: Int, _ height: Int) -> Bool {
            PictureHeader(
                storedWidth: width, storedHeight: height, orientation: .topLeft, frameCount: 1, hasAlpha: false
            ).isDrawable
        }
        #expect(isDrawable(10_000, 5_000))
        #expect(!isDrawable(10_000, 5_001))
        #expect(isDrawable(16_384, 1))
        #expect(!isDrawable(1, 16_385))
        #expect(!isDrawable(Int(Int32.max), Int(Int32.max)))
    }

    @Test("reads the orientation in both byte orders, and none that browsers ignore")
    func orientation() {
        #expect(Orientation(tiff: Orientation.leftBottom.tiff[...]) == .leftBottom)
        let big: [UInt8] = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 5, 0, 0]
        #expect(Orientation(tiff: big[...]) == .leftTop)
        for (place, value): (Int, UInt8) in [(19, 0), (19, 9), (18, 1), (13, 4), (17, 2), (7, 200), (4, 0xff), (3, 43)]
        {
            var bytes = big
            bytes[place] = value
            #expect(Orientation(tiff: bytes[...]) == nil, "\(place)")
        }
        for count in 0..<20 { #expect(Orientation(tiff: big.prefix(count)) == nil, "\(count)") }
    }
}
