// One picture from standard input, one thumbnail to standard output, in a sandbox. `parley` starts this program.
import Glibc
import ThumbnailFormat
import ThumbnailSandbox

@main
enum ParleyThumbnailer {
    static func main() {
        // The decoders initialise themselves at first use, and some read /proc/cpuinfo for that (libjpeg-turbo on ARM).
        WarmUp.run()
        do {
            try Sandbox.install()
        } catch {
            fail(.noSandbox, "cannot install the sandbox, so no picture is read: \(error)")
        }
        do {
            let thumbnail = try Thumbnail(drawing: StandardInput.read())
            try write(thumbnail.encoded)
        } catch {
            exit(error.rawValue)
        }
        exit(0)
    }

    private static func write(_ bytes: [UInt8]) throws(ThumbnailerStatus) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .failed }
            rest = rest.dropFirst(count)
        }
    }

    private static func fail(_ status: ThumbnailerStatus, _ message: String) -> Never {
        let line = Array("parley-thumbnailer: \(message)\n".utf8)
        _ = line.withUnsafeBytes { Glibc.write(2, $0.baseAddress, $0.count) }
        exit(status.rawValue)
    }
}
