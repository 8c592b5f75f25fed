// The whole input.
import Glibc
import ThumbnailFormat

enum StandardInput {
    private static let pieceByteCount = 256 << 10

    /// Reads to the end, at most `PictureLimits.byteCountMax` bytes.
    static func read() throws(ThumbnailerStatus) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: pieceByteCount)
        while true {
            let count = Glibc.read(0, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed }
            guard count > 0 else { return bytes }
            guard bytes.count + count <= PictureLimits.byteCountMax else { throw .tooLarge }
            bytes += piece[..<count]
        }
    }
}
