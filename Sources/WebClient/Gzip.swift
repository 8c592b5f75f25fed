// gzip (RFC 1952) by zlib, for whole texts.
import CZlib

enum Gzip {
    /// Returns the bytes as a gzip file, compressed as far as zlib can. The result depends on the bytes alone: it holds no
    /// time and no name.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        precondition(parley_gzip_begin(&stream) == Z_OK, "zlib found no memory")
        defer { deflateEnd(&stream) }
        let countMax = Int(deflateBound(&stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: countMax) { output, count in
            bytes.withUnsafeBufferPointer { input in
                // zlib does not write to its input. Its type is without const for old compilers.
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflateBound was too small")
            }
            count = Int(stream.total_out)
        }
    }
}
