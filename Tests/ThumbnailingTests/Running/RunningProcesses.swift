// What the node does with processes that fail, hang, lie or die.
import Basics
import Foundation
import Linux
import Logging
import Synchronization
import TestSupport
import Testing
import Thumbnailing

@Suite("A process that draws", .timeLimit(.minutes(1)))
struct RunningProcesses {
    /// More than the pipe holds.
    private let large = [UInt8](repeating: 1, count: 4 << 20)

    @Test("is killed at the end of its time, also while it is fed")
    func time() async throws {
        // It would end long after the time limit of the test.
        let script = try Script("exec sleep 86400")
        let drawing = try await script.draw(pieces(of: large), timeMax: .milliseconds(300))
        #expect(drawing == .timedOut)
    }

    @Test(
        "that dies before it has read is no danger to the node",
        arguments: [
            ("exit 2", Drawing.unreadable), ("exit 3", .tooLarge),
            ("exit 4", .failed("it could not install its sandbox (seccomp)")),
            ("exit 1", .failed("it exited with status 1")), ("exit 99", .failed("it exited with status 99")),
            ("kill -SEGV $$", .killed(signal: SIGSEGV)), ("kill -SYS $$", .killed(signal: SIGSYS)),
            ("kill -KILL $$", .killed(signal: SIGKILL)),
        ])
    func death(script: String, drawing: Drawing) async throws {
        #expect(try await Script(script).draw(pieces(of: large)) == drawing)
    }

    @Test(
        "that writes no thumbnail is not believed",
        arguments: [
            "cat >/dev/null; exit 0", "cat >/dev/null; echo PTHN", "exec head -c 100000000 /dev/zero",
        ])
    func garbage(script: String) async throws {
        let drawing = try await Script(script).draw(pieces(of: large))
        #expect(drawing == .failed("its result is malformed"))
    }

    @Test("gets the whole picture, an empty environment and no argument")
    func input() async throws {
        let script = try Script(
            #"cat /proc/$$/environ >"${0%/*}/environment"; echo $# >"${0%/*}/count"; cat >"${0%/*}/input"; exit 2"#)
        let picture = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        #expect(try await script.draw(pieces(of: picture, byteCount: 10_007)) == .unreadable)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: script.file("input")))) == picture)
        #expect(try Data(contentsOf: URL(filePath: script.file("environment"))).isEmpty)
        #expect(try String(contentsOfFile: script.file("count"), encoding: .utf8) == "0\n")
    }

    @Test("is asked for no more pieces than it reads")
    func backPressure() async throws {
        let script = try Script("exec sleep 100")
        let count = Atomic(0)
        let piece = [UInt8](repeating: 0, count: 256 << 10)
        let drawing = try await script.draw(
            { _ in
                count.add(1, ordering: .relaxed)
                return piece
            }, timeMax: .milliseconds(500))
        #expect(drawing == .timedOut)
        #expect((1...4).contains(count.load(ordering: .relaxed)))
    }

    @Test("ends with an error of the picture's source, and the error is the caller's")
    func source() async throws {
        struct Away: Error {}
        let script = try Script(#"echo $$ >"${0%/*}/pid"; exec sleep 100"#)
        await #expect(throws: Away.self) {
            try await script.draw { _ in
                try await script.waitUntilStarted()
                throw Away()
            }
        }
        try expectEnded(script)
    }

    @Test("is killed and reaped when its caller is cancelled")
    func cancellation() async throws {
        let script = try Script(#"echo $$ >"${0%/*}/pid"; exec sleep 100"#)
        let thumbnailer = Thumbnailer(executable: script.path, logger: Logger(label: "test"))
        let large = large
        let task = Task { try await thumbnailer.draw(pieces(of: large)) }
        try await script.waitUntilStarted()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try expectEnded(script)
        #expect(thumbnailer.load == (0, 0))
    }

    private func expectEnded(_ script: Script) throws {
        let text = try String(contentsOfFile: script.file("pid"), encoding: .utf8)
        let pid = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    @Test("runs beside one other; more wait, and too many are refused")
    func line() async throws {
        let script = try Script(
            #"""
            echo start >>"${0%/*}/log"
            while [ ! -e "${0%/*}/go" ]; do sleep 0.02; done
            echo end >>"${0%/*}/log"
            exit 2
            """#)
        func log() throws -> [Substring] {
            try String(contentsOfFile: script.file("log"), encoding: .utf8).split(separator: "\n")
        }
        let thumbnailer = Thumbnailer(executable: script.path, logger: Logger(label: "test"), waitingCountMax: 3)
        try await withThrowingTaskGroup(of: Drawing.self) { group in
            for number in 0..<5 { group.addTask { try await thumbnailer.draw(for: "\(number)") { _ in nil } } }
            try await eventually("two drawn and three waiting") { thumbnailer.load == (2, 3) }
            await #expect(throws: SlotRefusal.full) { try await thumbnailer.draw(for: "5") { _ in nil } }
            try await eventually("two processes") { try log().count == 2 }
            try Data().write(to: URL(filePath: script.file("go")))
            for try await drawing in group { #expect(drawing == .unreadable) }
        }
        // Never did a third run beside two.
        let lines = try log()
        var runningCount = 0
        for line in lines {
            runningCount += line == "start" ? 1 : -1
            #expect((0...2).contains(runningCount), "\(lines)")
        }
        #expect(lines.count == 10)
        #expect(thumbnailer.load == (0, 0))
    }

    @Test("runs one of an owner at a time, while another owner's picture is drawn at once")
    func owners() async throws {
        let script = try Script(#"while [ ! -e "${0%/*}/go" ]; do sleep 0.02; done; exit 2"#)
        let thumbnailer = Thumbnailer(
            executable: script.path, logger: Logger(label: "test"), ownerWaitingCountMax: 1)
        try await withThrowingTaskGroup(of: Drawing.self) { group in
            for _ in 0..<2 { group.addTask { try await thumbnailer.draw(for: "a") { _ in nil } } }
            try await eventually("one drawn and one waiting") { thumbnailer.load == (1, 1) }
            await #expect(throws: SlotRefusal.flowFull) { try await thumbnailer.draw(for: "a") { _ in nil } }
            group.addTask { try await thumbnailer.draw(for: "b") { _ in nil } }
            try await eventually("two drawn") { thumbnailer.load == (2, 1) }
            try Data().write(to: URL(filePath: script.file("go")))
            for try await drawing in group { #expect(drawing == .unreadable) }
        }
        #expect(thumbnailer.load == (0, 0))
    }

    @Test("is not needed: without the executable there is one warning, and no thumbnails")
    func missing() async throws {
        let log = LogLines()
        let thumbnailer = Thumbnailer(executable: "/nonexistent/parley-thumbnailer", logger: log.logger)
        #expect(!thumbnailer.isInstalled)
        for _ in 0..<3 { #expect(try await thumbnailer.draw { _ in [1] } == .missing) }
        #expect(log.all.count == 1)
    }

    @Test("is found beside the running executable")
    func beside() async throws {
        #expect(builtThumbnailer.isInstalled)
    }
}
