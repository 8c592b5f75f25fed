// Everything that the libraries do once, done before the sandbox.

enum WarmUp {
    /// Encodes and decodes a small picture of our own with each library.
    static func run() {
        var bitmap = Bitmap(size: PixelSize(width: 32, height: 32), channelCount: 4)
        for index in bitmap.bytes.indices { bitmap.bytes[index] = UInt8(truncatingIfNeeded: index &* 37 ^ index >> 5) }
        do {
            _ = try JPEG.decode(JPEG.encode(bitmap))
            _ = try WebP.decode(WebP.encode(bitmap))
        } catch {
            // A library that fails here will fail in the sandbox too, and the exit status will say so.
        }
    }
}
