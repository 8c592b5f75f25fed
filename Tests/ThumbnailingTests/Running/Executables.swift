// The thumbnailer under test, and programs that replace it.
import Foundation
import Linux
import Logging
import TestSupport
import Thumbnailing

/// The built executable, which is beside the test bundle.
let builtThumbnailer = Thumbnailer(logger: Logger(label: "test"))

func draw(_ picture: [UInt8]) async throws -> Drawing {
    try await builtThumbnailer.draw(pieces(of: picture))
}

/// The pieces of a picture, as the store has them.
func pieces(of picture: [UInt8], byteCount: Int = 256 << 10) -> @Sendable (Int) -> [UInt8]? {
    { number in
        let start = number * byteCount
        return start < picture.count ? Array(picture[start..<min(picture.count, start + byteCount)]) : nil
    }
}

/// A shell script in the place of parley-thumbnailer.
struct Script {
    private let directory: TemporaryDirectory
    let path: String

    init(_ text: String) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/" + Thumbnailer.executableName
        try Files.write("#!/bin/sh\nPATH=/usr/bin:/bin\n" + text + "\n", to: path, mode: 0o755, owner: nil)
    }

    func draw(
        _ piece: @escaping @Sendable (Int) async throws -> [UInt8]?, timeMax: Duration = .seconds(10)
    ) async throws -> Drawing {
        // The script is removed with its directory.
        defer { withExtendedLifetime(directory) {} }
        return try await Thumbnailer(executable: path, logger: Logger(label: "test"), timeMax: timeMax).draw(piece)
    }

    /// Waits for a script that writes the file `pid` first.
    func waitUntilStarted() async throws {
        // The shell creates the file before it writes the line.
        try await eventually("the script starts") {
            try String(contentsOfFile: file("pid"), encoding: .utf8).hasSuffix("\n")
        }
    }

    func file(_ name: String) -> String { directory.path + "/" + name }
}
