// The virus scanner of Debian's clamav-daemon, with one signature of its own: no lists of viruses, no internet.
import Foundation
import Linux

/// A clamd on a port of 127.0.0.1 and on a Unix socket. It ends with the test process, or with this value.
package final class Clamd: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Bytes that the daemon finds, anywhere in a file.
    package static let harmfulContent = Array("parley-test-harmful-content".utf8)
    /// The name that it reports for them.
    package static let signature = "Parley.Test.UNOFFICIAL"
    package static let executable = "/usr/sbin/clamd"

    package let port: Int
    package let socket: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    private init(port: Int, directory: TemporaryDirectory, process: ChildProcess) {
        self.port = port
        self.directory = directory
        self.process = process
        socket = directory.path + "/clamd.sock"
    }

    deinit { process.send(SIGKILL) }

    /// The values of `PARLEY_SCAN_URL`.
    package var url: String { "clamd://127.0.0.1:\(port)" }
    package var socketURL: String { "clamd://\(socket)" }

    /// - Parameters:
    ///   - port: nil for a free one.
    ///   - byteCountMax: the daemon's `StreamMaxLength`.
    package static func start(port: Int? = nil, byteCountMax: Int = 100 << 20) async throws -> Clamd {
        let directory = try TemporaryDirectory()
        let port = try port ?? Sockets.freePort()
        // clamd run by root would change to a user of its own.
        let account = geteuid() == 0 ? SystemAccount.named("nobody") : nil
        if let account { _ = chown(directory.path, account.userID, account.groupID) }
        let hex = harmfulContent.map { String(format: "%02x", $0) }.joined()
        try Data("Parley.Test:0:*:\(hex)\n".utf8).write(to: URL(filePath: directory.path + "/test.ndb"))
        let settings = """
            Foreground yes
            DatabaseDirectory \(directory.path)
            LocalSocket \(directory.path)/clamd.sock
            TCPAddr 127.0.0.1
            TCPSocket \(port)
            StreamMaxLength \(byteCountMax)
            MaxScanSize \(2 * byteCountMax)
            MaxFileSize \(2 * byteCountMax)

            """
        try Data(settings.utf8).write(to: URL(filePath: directory.path + "/clamd.conf"))
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let program = Program(
            executable: executable, arguments: ["--config-file=\(directory.path)/clamd.conf"], account: account,
            signalAtOurDeath: "KILL")
        let process = try await ChildProcess.start(program, input: null, output: null)
        let clamd = Clamd(port: port, directory: directory, process: process)
        for _ in 0..<2_000 where process.isRunning {
            // The daemon opens its sockets when it has loaded the signatures: first the port, then the Unix socket.
            if access(clamd.socket, F_OK) == 0 { return clamd }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(description: "clamd does not start: is clamav-daemon installed (.ci/deps test)?")
    }

    /// Ends the daemon. Its port stays free for a successor.
    package func stop() async {
        process.send(SIGKILL)
        _ = await process.waitForExit(atMost: .seconds(10))
    }
}
