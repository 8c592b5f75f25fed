// Pixels in memory.

struct PixelSize: Equatable {
    var width: Int
    var height: Int

    /// The largest size of the same shape whose sides are at most `sideMax`; never larger than this size.
    func fitted(sideMax: Int) -> PixelSize {
        let longer = max(width, height)
        guard longer > sideMax else { return self }
        func scaled(_ side: Int) -> Int { max(1, (side * sideMax + longer / 2) / longer) }
        return PixelSize(width: scaled(width), height: scaled(height))
    }
}

/// Rows of 8-bit sRGB pixels from top to bottom, without gaps. Alpha is not multiplied into the colours.
struct Bitmap {
    var size: PixelSize
    /// 3: red, green, blue. 4: and alpha.
    var channelCount: Int
    var bytes: [UInt8]

    init(size: PixelSize, channelCount: Int) {
        self.size = size
        self.channelCount = channelCount
        bytes = [UInt8](repeating: 0, count: size.width * size.height * channelCount)
    }

    var rowByteCount: Int { size.width * channelCount }

    var isOpaque: Bool {
        channelCount == 3 || stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 }
    }

    /// Returns the picture at a size that is not larger.
    func scaled(to target: PixelSize) -> Bitmap {
        guard target != size else { return self }
        var scaler = AreaScaler(from: size, to: target, channelCount: channelCount)
        bytes.withUnsafeBufferPointer { bytes in
            for row in 0..<size.height {
                scaler.add(UnsafeBufferPointer(rebasing: bytes[row * rowByteCount..<(row + 1) * rowByteCount]))
            }
        }
        return scaler.result
    }
}
