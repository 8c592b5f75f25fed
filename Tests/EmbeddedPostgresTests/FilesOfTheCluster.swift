// Files of the cluster that need no server: postmaster.pid, the socket's directory, the log.

import Foundation
import Linux
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite("postmaster.pid", .timeLimit(.minutes(1)))
struct PostmasterFiles {
    @Test(
        "returns process and status",
        arguments: [
            ("4711\n/data\n1\n5432\n/data/socket\n\n 1 2\nready   \n", PostmasterFile.Status.ready),
            ("4711\n/data\n1\n5432\n/data/socket\n\n 1 2\nstopping\n", .stopping),
            ("4711\n/data\n1\n5432\n", nil),
        ])
    func parses(text: String, status: PostmasterFile.Status?) {
        let file = PostmasterFile(parsing: text)
        #expect(file?.pid == 4711)
        #expect(file?.status == status)
    }

    @Test("of a single-user backend, or malformed, is ignored", arguments: ["-4711\n/data\n", "", "x\n", "0\n"])
    func nonsense(text: String) {
        #expect(PostmasterFile(parsing: text) == nil)
    }

    @Test("names the server only if the process works in that directory")
    func owner() throws {
        let file = try #require(PostmasterFile(parsing: "\(getpid())\n"))
        #expect(file.owner(dataDirectory: FileManager.default.currentDirectoryPath) == .server)
        #expect(file.owner(dataDirectory: "/proc") == .stranger)
        // Past the kernel's largest process id.
        #expect(PostmasterFile(parsing: "4194305\n")?.owner(dataDirectory: "/proc") == .nobody)
    }
}

@Suite("The socket's directory", .timeLimit(.minutes(1)))
struct SocketDirectories {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    @Test("is next to the cluster up to 107 bytes of socket path")
    func longest() throws {
        let room = 107 - "/.s.PGSQL.5432".utf8.count - temporary.path.utf8.count - 1
        let fits = temporary.path + "/" + String(repeating: "x", count: room)
        #expect(try SocketDirectory.make(preferring: fits, account: nil, runtimeDirectories: []) == fits)
        #expect(throws: EmbeddedPostgresError.self) {
            try SocketDirectory.make(preferring: fits + "x", account: nil, runtimeDirectories: [])
        }
        let elsewhere = try SocketDirectory.make(
            preferring: fits + "x", account: nil, runtimeDirectories: [temporary.path])
        #expect(elsewhere.hasPrefix(temporary.path + "/parley-\(geteuid())-"))
    }

    @Test("is closed to others, and made so again")
    func mode() throws {
        let path = temporary.path + "/socket"
        for _ in 1...2 {
            #expect(try SocketDirectory.make(preferring: path, account: nil) == path)
            #expect(try Files.status(path).map { $0.st_mode & 0o777 } == 0o700)
            _ = chmod(path, 0o777)
        }
    }

    @Test("is refused when another user created it, or put a link there")
    func taken() throws {
        let path = temporary.path + "/socket"
        _ = symlink("/tmp", path)
        #expect(throws: EmbeddedPostgresError.self) { try SocketDirectory.make(preferring: path, account: nil) }
    }
}

@Suite("The server's log", .timeLimit(.minutes(1)))
struct ServerLogs {
    @Test(
        "returns PostgreSQL's own message",
        arguments: [
            ("t LOG:  starting\nt FATAL:  no space\nt LOG:  shut down\n", "no space"),
            ("t FATAL:  too many\nt HINT:  Use fewer.\n", "too many (Use fewer.)"),
            (
                "t LOG:  bad \"x\"\nt FATAL:  configuration file \"c\" contains errors\n",
                "configuration file \"c\" contains errors (bad \"x\")"
            ),
            ("initdb: error: cannot be run as root\n", "cannot be run as root"),
            ("what?\n", "what?"),
            ("", "it printed nothing"),
        ])
    func reason(log: String, words: String) {
        #expect(ServerLog.reason(in: log) == words)
    }

    @Test("is put aside at a start when it has grown past its limit")
    func bounded() throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.path + "/postgres.log"
        try Data().write(to: URL(filePath: path))
        #expect(truncate(path, ServerLog.byteCountMax) == 0)
        #expect(try ServerLog.open(path).byteCount == ServerLog.byteCountMax)
        #expect(truncate(path, ServerLog.byteCountMax + 1) == 0)
        #expect(try ServerLog.open(path).byteCount == 0)
        #expect(try Files.status(path + ".old")?.st_size == ServerLog.byteCountMax + 1)
    }
}
