// Averages of areas, and turned pictures.
import TestSupport
import Testing

@testable import parley_thumbnailer

@Suite("Scaling down", .timeLimit(.minutes(1)))
struct ScalingDown {
    @Test("averages exactly the area under each pixel, with transparent pixels left out of colours")
    func averages() {
        var random = SplitMix64(seed: Fuzzing.seed)
        for _ in 0..<15 {
            let source = PixelSize(width: 1 + random.below(60), height: 1 + random.below(60))
            let target = PixelSize(width: 1 + random.below(source.width), height: 1 + random.below(source.height))
            var bitmap = Bitmap(size: source, channelCount: random.chance(2) ? 4 : 3)
            for index in bitmap.bytes.indices { bitmap.bytes[index] = UInt8(random.below(256)) }
            let scaled = bitmap.scaled(to: target)
            for y in 0..<target.height {
                for x in 0..<target.width {
                    let pixel = Self.average(bitmap, target, x, y)
                    // Nobody sees the colour of a transparent pixel.
                    for channel in 0..<bitmap.channelCount where channel == 3 || pixel[3] > 0 {
                        let own = scaled.bytes[(y * target.width + x) * bitmap.channelCount + channel]
                        #expect(abs(Double(own) - pixel[channel]) <= 0.5 + 1e-6, "seed \(Fuzzing.seed)")
                    }
                }
            }
        }
    }

    /// The same by definition, slowly.
    private static func average(_ bitmap: Bitmap, _ target: PixelSize, _ x: Int, _ y: Int) -> [Double] {
        let scaleX = Double(bitmap.size.width) / Double(target.width)
        let scaleY = Double(bitmap.size.height) / Double(target.height)
        func overlap(_ pixel: Int, _ start: Double, _ length: Double) -> Double {
            max(0, min(Double(pixel + 1), start + length) - max(Double(pixel), start))
        }
        var sums = [0.0, 0.0, 0.0, 0.0]
        for row in 0..<bitmap.size.height {
            for column in 0..<bitmap.size.width {
                let area = overlap(column, Double(x) * scaleX, scaleX) * overlap(row, Double(y) * scaleY, scaleY)
                let start = (row * bitmap.size.width + column) * bitmap.channelCount
                let alpha = bitmap.channelCount == 4 ? Double(bitmap.bytes[start + 3]) : 255
                for channel in 0..<3 { sums[channel] += area * alpha * Double(bitmap.bytes[start + channel]) }
                sums[3] += area * alpha
            }
        }
        let alpha = sums[3]
        return sums[..<3].map { alpha > 0 ? $0 / alpha : 0 } + [alpha / (scaleX * scaleY)]
    }

    @Test("keeps white white at the largest size")
    func white() {
        let size = PixelSize(width: 16_384, height: 3)
        var bitmap = Bitmap(size: size, channelCount: 4)
        for index in bitmap.bytes.indices { bitmap.bytes[index] = 255 }
        #expect(bitmap.scaled(to: PixelSize(width: 1, height: 1)).bytes == [255, 255, 255, 255])
        #expect(bitmap.scaled(to: size.fitted(sideMax: 640)).bytes.allSatisfy { $0 == 255 })
    }

    @Test(
        "keeps the shape, and at least a pixel",
        arguments: [
            ((1_280, 640), (640, 320)), ((640, 640), (640, 640)), ((100, 50), (100, 50)), ((16_384, 2), (640, 1)),
            ((3, 6_400), (1, 640)), ((1_001, 667), (640, 426)),
        ])
    func sizes(source: (Int, Int), target: (Int, Int)) {
        let fitted = PixelSize(width: source.0, height: source.1).fitted(sideMax: 640)
        #expect(fitted == PixelSize(width: target.0, height: target.1))
    }
}

@Suite("An orientation in EXIF", .timeLimit(.minutes(1)))
struct Orientations {
    private static let littleEndian: [UInt8] = [
        0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
    ]
    private static let bigEndian: [UInt8] = [
        0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
    ]

    @Test("is read in both byte orders, with and without a prefix")
    func reading() {
        for exif in [Self.littleEndian, Self.bigEndian] {
            #expect(Orientation(exif: exif[...]) == .turnedRight)
            #expect(Orientation(exif: (Array("Exif\0\0".utf8) + exif)[6...]) == .turnedRight)
            #expect(Orientation(exif: (Array("Exif\0\0".utf8) + exif)[...]) == .turnedRight)
        }
    }

    @Test("that is damaged is upright")
    func damaged() {
        for count in 0..<20 { #expect(Orientation(exif: Self.littleEndian.prefix(count)) == .upright) }
        for value in [0, 9, 255] {
            var exif = Self.littleEndian
            exif[18] = UInt8(value)
            #expect(Orientation(exif: exif[...]) == .upright)
        }
        var far = Self.littleEndian
        far[4...7] = [0xff, 0xff, 0xff, 0xff]
        #expect(Orientation(exif: far[...]) == .upright)
    }
}
