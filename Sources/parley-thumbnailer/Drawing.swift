// Turns the bytes of a picture into a thumbnail.
import ThumbnailFormat

/// A decoded picture, already scaled down to the size of a thumbnail.
struct DecodedPicture {
    var bitmap: Bitmap
    /// How to turn it for display.
    var orientation = Orientation.upright
}

extension Thumbnail {
    /// Decodes a picture and draws its thumbnail: the first frame, scaled down to at most 640 pixels (never up), turned
    /// as its EXIF says, as JPEG, or as WebP if a pixel is transparent.
    init(drawing picture: [UInt8]) throws(ThumbnailerStatus) {
        let decoded = try Self.decode(picture)
        let bitmap = decoded.orientation.apply(to: decoded.bitmap)
        let isOpaque = bitmap.isOpaque
        self.init(
            format: isOpaque ? .jpeg : .webP, width: bitmap.size.width, height: bitmap.size.height,
            thumbhash: Thumbhash.encode(bitmap.scaled(to: bitmap.size.fitted(sideMax: Thumbhash.sideMax))),
            bytes: isOpaque ? try JPEG.encode(bitmap) : try WebP.encode(bitmap))
    }

    private static func decode(_ picture: [UInt8]) throws(ThumbnailerStatus) -> DecodedPicture {
        if picture.starts(with: JPEG.magic) { return try JPEG.decode(picture) }
        if picture.starts(with: PNG.magic) { return try PNG.decode(picture) }
        if GIF.magics.contains(where: picture.starts(with:)) { return try GIF.decode(picture) }
        if WebP.isWebP(picture) { return try WebP.decode(picture) }
        throw .unreadable
    }
}

extension PixelSize {
    /// Throws unless a picture of this size may be drawn. Decoders call it before they allocate memory for pixels.
    func checkLimits() throws(ThumbnailerStatus) {
        guard width > 0, height > 0 else { throw .unreadable }
        guard width <= PictureLimits.sideMax, height <= PictureLimits.sideMax,
            width * height <= PictureLimits.pixelCountMax
        else { throw .tooLarge }
    }
}
