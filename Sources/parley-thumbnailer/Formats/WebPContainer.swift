// The chunks around the pictures of a WebP file (RFC 9649): libwebp itself decodes still pictures only.

/// A frame of an animation.
struct WebPFrame {
    let canvas: PixelSize
    let left: Int
    let top: Int
    /// An optional chunk ALPH and a chunk VP8 or VP8L, which libwebp decodes like a file.
    let data: ArraySlice<UInt8>
}

struct WebPContainer {
    /// It is nil for a still picture.
    private(set) var firstFrame: WebPFrame?
    private(set) var orientation = Orientation.upright

    /// Damaged files have no frame.
    init(_ file: ByteReader) {
        func integer(_ offset: Int, _ byteCount: Int) -> Int? {
            file.integer(at: offset, byteCount: byteCount, isBigEndian: false)
        }
        // Only a file with the chunk VP8X has an animation or EXIF. Its sides are stored less 1.
        guard file.has("VP8X", at: 12), let width = integer(24, 3), let height = integer(27, 3) else { return }
        var offset = 12
        while let length = integer(offset + 4, 4) {
            let start = offset + 8
            if firstFrame == nil, file.has("ANMF", at: offset), length >= 16, let left = integer(start, 3),
                let top = integer(start + 3, 3), let data = file.slice(at: start + 16, count: length - 16)
            {
                firstFrame = WebPFrame(
                    canvas: PixelSize(width: width + 1, height: height + 1), left: 2 * left, top: 2 * top, data: data)
            }
            if file.has("EXIF", at: offset), let exif = file.slice(at: start, count: length) {
                orientation = Orientation(exif: exif)
            }
            // Chunks begin at even offsets.
            offset = start + length + length % 2
        }
    }
}
