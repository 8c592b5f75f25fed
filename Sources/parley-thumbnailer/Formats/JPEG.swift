// JPEG by libjpeg-turbo's TurboJPEG API, which reports errors by return values.
import CTurboJPEG
import ThumbnailFormat

enum JPEG {
    static let magic: [UInt8] = [0xff, 0xd8, 0xff]
    private static let quality: Int32 = 80

    /// Decodes at the smallest scale (eighths) that is not smaller than the thumbnail. A picture that is damaged behind
    /// its header is drawn as far as it can be read, as browsers do: many files of cameras have small faults.
    static func decode(_ file: [UInt8]) throws(ThumbnailerStatus) -> DecodedPicture {
        guard let decoder = tjInitDecompress() else { throw .failed }
        defer { tjDestroy(decoder) }
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        // The result is an error for an unusual subsampling too, which can be decoded.
        tjDecompressHeader3(decoder, file, UInt(file.count), &width, &height, &subsampling, &colours)
        let size = PixelSize(width: Int(width), height: Int(height))
        try size.checkLimits()
        let header = JPEGHeader(file)
        let isCMYK = colours == Int32(TJCS_CMYK.rawValue) || colours == Int32(TJCS_YCCK.rawValue)
        let format = isCMYK ? TJPF_CMYK : TJPF_RGB
        let channelCount = isCMYK ? 4 : 3
        let target = size.fitted(sideMax: Thumbnail.sideMax)
        let scaled = scaledSize(of: size, atLeast: target)
        var pixels = [UInt8](repeating: 0, count: scaled.width * scaled.height * channelCount)
        let result = tjDecompress2(
            decoder, file, UInt(file.count), &pixels, Int32(scaled.width), Int32(scaled.width * channelCount),
            Int32(scaled.height), Int32(format.rawValue), TJFLAG_LIMITSCANS)
        guard result == 0 || tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue) else { throw .unreadable }
        var bitmap = Bitmap(size: scaled, channelCount: 3)
        if isCMYK {
            convert(cmyk: pixels, isInverted: header.isAdobe, to: &bitmap.bytes)
        } else {
            bitmap.bytes = pixels
        }
        return DecodedPicture(bitmap: bitmap.scaled(to: target), orientation: header.orientation)
    }

    static func encode(_ bitmap: Bitmap) throws(ThumbnailerStatus) -> [UInt8] {
        guard let encoder = tjInitCompress() else { throw .failed }
        defer { tjDestroy(encoder) }
        var jpeg: UnsafeMutablePointer<UInt8>?
        var byteCount: UInt = 0
        defer { tjFree(jpeg) }
        // RGBX leaves the fourth byte out.
        let format = bitmap.channelCount == 4 ? TJPF_RGBX : TJPF_RGB
        let result = tjCompress2(
            encoder, bitmap.bytes, Int32(bitmap.size.width), Int32(bitmap.rowByteCount), Int32(bitmap.size.height),
            Int32(format.rawValue), &jpeg, &byteCount, Int32(TJSAMP_420.rawValue), quality, 0)
        guard result == 0, let jpeg else { throw .failed }
        return Array(UnsafeBufferPointer(start: jpeg, count: Int(byteCount)))
    }

    /// libjpeg-turbo scales by n/8. Its own rounding is upwards.
    private static func scaledSize(of size: PixelSize, atLeast target: PixelSize) -> PixelSize {
        for eighths in 1..<8 {
            let scaled = PixelSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
            if scaled.width >= target.width, scaled.height >= target.height { return scaled }
        }
        return size
    }

    /// Adobe's files store 255 for no ink, others 0.
    private static func convert(cmyk: [UInt8], isInverted: Bool, to rgb: inout [UInt8]) {
        let mask: UInt8 = isInverted ? 0 : 255
        var to = 0
        for from in stride(from: 0, to: cmyk.count, by: 4) {
            let black = Int(cmyk[from + 3] ^ mask)
            for channel in 0..<3 { rgb[to + channel] = UInt8((Int(cmyk[from + channel] ^ mask) * black + 127) / 255) }
            to += 3
        }
    }
}

/// What the TurboJPEG API does not say about a file.
private struct JPEGHeader {
    var orientation = Orientation.upright
    /// Whether the file has Adobe's segment APP14.
    var isAdobe = false

    init(_ file: [UInt8]) {
        let reader = ByteReader(file[...])
        var offset = 2
        // Segments up to the first scan (SOS, 0xda).
        while let mark = reader.integer(at: offset, byteCount: 1), mark == 0xff,
            let marker = reader.integer(at: offset + 1, byteCount: 1), marker != 0xda
        {
            // Bytes of 0xff may fill the room before a marker.
            if marker == 0xff {
                offset += 1
                continue
            }
            guard let length = reader.integer(at: offset + 2, byteCount: 2), length >= 2,
                let segment = reader.slice(at: offset + 4, count: length - 2)
            else { return }
            if marker == 0xe1, segment.starts(with: "Exif\0\0".utf8) { orientation = Orientation(exif: segment) }
            if marker == 0xee, segment.starts(with: "Adobe".utf8) { isAdobe = true }
            offset += 2 + length
        }
    }
}
