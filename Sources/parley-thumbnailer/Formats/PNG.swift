// PNG by libpng's simplified API, which catches libpng's jumps itself.
import CPNG
import ThumbnailFormat

enum PNG {
    static let magic: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Decodes the picture at full size: libpng can't scale. Of an animation, this is the default image.
    static func decode(_ file: [UInt8]) throws(ThumbnailerStatus) -> DecodedPicture {
        let reader = ByteReader(file[...])
        // The header comes first, so a large picture is refused before libpng sees it.
        guard reader.has("IHDR", at: 12), let width = reader.integer(at: 16, byteCount: 4),
            let height = reader.integer(at: 20, byteCount: 4)
        else { throw .unreadable }
        let size = PixelSize(width: width, height: height)
        try size.checkLimits()
        let full = try pixels(of: file, size: size)
        return DecodedPicture(
            bitmap: full.scaled(to: size.fitted(sideMax: Thumbnail.sideMax)), orientation: orientation(of: reader))
    }

    private static func pixels(of file: [UInt8], size: PixelSize) throws(ThumbnailerStatus) -> Bitmap {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        // One scope, because the image keeps the address of the file.
        let bitmap = file.withUnsafeBytes { file -> Bitmap? in
            guard png_image_begin_read_from_memory(&image, file.baseAddress, file.count) != 0,
                Int(image.width) == size.width, Int(image.height) == size.height
            else { return nil }
            let hasAlpha = image.format & UInt32(PNG_FORMAT_FLAG_ALPHA) != 0
            image.format = UInt32(PNG_FORMAT_FLAG_COLOR) | (hasAlpha ? UInt32(PNG_FORMAT_FLAG_ALPHA) : 0)
            // Without it, libpng takes samples of 16 bits for linear light.
            image.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
            var bitmap = Bitmap(size: size, channelCount: hasAlpha ? 4 : 3)
            let stride = Int32(bitmap.rowByteCount)
            return png_image_finish_read(&image, nil, &bitmap.bytes, stride, nil) != 0 ? bitmap : nil
        }
        guard let bitmap else { throw .unreadable }
        return bitmap
    }

    /// From the chunk eXIf, which may come after the pixels.
    private static func orientation(of reader: ByteReader) -> Orientation {
        var offset = magic.count
        while let length = reader.integer(at: offset, byteCount: 4) {
            if reader.has("eXIf", at: offset + 4), let exif = reader.slice(at: offset + 8, count: length) {
                return Orientation(exif: exif)
            }
            offset += 12 + length
        }
        return .upright
    }
}
