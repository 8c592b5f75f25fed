// WebP by libwebp, which reports errors by return values and scales while it decodes.
import CWebP
import ThumbnailFormat

enum WebP {
    private static let quality: Float = 80

    static func isWebP(_ file: [UInt8]) -> Bool {
        let reader = ByteReader(file[...])
        return reader.has("RIFF", at: 0) && reader.has("WEBP", at: 8)
    }

    /// Decodes the picture, or the first frame of an animation, at the size of the thumbnail.
    static func decode(_ file: [UInt8]) throws(ThumbnailerStatus) -> DecodedPicture {
        let container = WebPContainer(ByteReader(file[...]))
        guard let frame = container.firstFrame else {
            let size = try self.size(of: file[...])
            let target = size.fitted(sideMax: Thumbnail.sideMax)
            return DecodedPicture(bitmap: try pixels(of: file[...], at: target), orientation: container.orientation)
        }
        return DecodedPicture(bitmap: try draw(frame), orientation: container.orientation)
    }

    /// Draws a frame on its canvas, which is transparent elsewhere.
    private static func draw(_ frame: WebPFrame) throws(ThumbnailerStatus) -> Bitmap {
        try frame.canvas.checkLimits()
        let size = try size(of: frame.data)
        guard frame.left + size.width <= frame.canvas.width, frame.top + size.height <= frame.canvas.height
        else { throw .unreadable }
        let target = frame.canvas.fitted(sideMax: Thumbnail.sideMax)
        guard size != frame.canvas else { return try pixels(of: frame.data, at: target) }
        func x(_ value: Int) -> Int { value * target.width / frame.canvas.width }
        func y(_ value: Int) -> Int { value * target.height / frame.canvas.height }
        // The part has at least a pixel, also at the right and the lower edge.
        let (left, top) = (min(x(frame.left), target.width - 1), min(y(frame.top), target.height - 1))
        let part = try pixels(
            of: frame.data,
            at: PixelSize(
                width: max(1, x(frame.left + size.width) - left), height: max(1, y(frame.top + size.height) - top)))
        var bitmap = Bitmap(size: target, channelCount: 4)
        for row in 0..<part.size.height {
            let to = (top + row) * bitmap.rowByteCount + left * 4
            let from = part.bytes[row * part.rowByteCount..<(row + 1) * part.rowByteCount]
            bitmap.bytes.replaceSubrange(to..<to + from.count, with: from)
        }
        return bitmap
    }

    /// The size of a still picture, within the limits.
    private static func size(of file: ArraySlice<UInt8>) throws(ThumbnailerStatus) -> PixelSize {
        var (width, height) = (Int32(0), Int32(0))
        let isKnown = file.withUnsafeBufferPointer { WebPGetInfo($0.baseAddress, $0.count, &width, &height) }
        guard isKnown != 0 else { throw .unreadable }
        let size = PixelSize(width: Int(width), height: Int(height))
        try size.checkLimits()
        return size
    }

    private static func pixels(of file: ArraySlice<UInt8>, at size: PixelSize) throws(ThumbnailerStatus) -> Bitmap {
        var bitmap = Bitmap(size: size, channelCount: 4)
        var configuration = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&configuration) != 0 else { throw .failed }
        configuration.options.use_scaling = 1
        configuration.options.scaled_width = Int32(size.width)
        configuration.options.scaled_height = Int32(size.height)
        configuration.output.colorspace = MODE_RGBA
        configuration.output.is_external_memory = 1
        let stride = Int32(bitmap.rowByteCount)
        let status = bitmap.bytes.withUnsafeMutableBufferPointer { pixels in
            configuration.output.u.RGBA = WebPRGBABuffer(rgba: pixels.baseAddress, stride: stride, size: pixels.count)
            return file.withUnsafeBufferPointer { WebPDecode($0.baseAddress, $0.count, &configuration) }
        }
        guard status == VP8_STATUS_OK else { throw .unreadable }
        return bitmap
    }

    static func encode(_ bitmap: Bitmap) throws(ThumbnailerStatus) -> [UInt8] {
        precondition(bitmap.channelCount == 4)
        var webP: UnsafeMutablePointer<UInt8>?
        defer { WebPFree(webP) }
        let byteCount = WebPEncodeRGBA(
            bitmap.bytes, Int32(bitmap.size.width), Int32(bitmap.size.height), Int32(bitmap.rowByteCount), quality,
            &webP)
        guard byteCount > 0, let webP else { throw .failed }
        return Array(UnsafeBufferPointer(start: webP, count: byteCount))
    }
}
