// One process of parley-thumbnailer, from its start to its end.
import Glibc
import Linux

/// A running parley-thumbnailer. Only killing it stops it early, and then every call that waits for it returns.
struct ThumbnailProcess: Sendable {
    private let input: ProcessPipe
    private let output: ProcessPipe
    private let child: ChildProcess

    /// Starts the process.
    init(executable: String) async throws {
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard null >= 0 else { throw FileError("open", "/dev/null") }
        defer { close(null) }
        input = try ProcessPipe()
        output = try ProcessPipe()
        child = try await ChildProcess.start(
            Program(executable: executable, arguments: [], environment: []),
            input: input.readEnd, output: output.writeEnd, error: null)
        input.closeReadEnd()
        output.closeWriteEnd()
    }

    /// The processor time that the process has used. Zero while it runs.
    var processorTime: Duration { child.processorTime }

    /// How the tasks other than the reader ended.
    private enum Ending {
        case fed
        case sourceFailed(any Error)
        case timedOut
        /// The process ended first.
        case idle
    }

    /// Passes the picture to the process and returns the outcome once the process has ended.
    /// - Throws: `CancellationError`, and what `piece` throws.
    func draw(
        _ piece: @escaping @Sendable (Int) async throws -> [UInt8]?, timeMax: Duration
    ) async throws -> Drawing {
        try await withTaskCancellationHandler {
            try await withTaskGroup(of: Ending.self, returning: Result<Drawing, any Error>.self) { group in
                group.addTask { await feed(piece) }
                group.addTask { await killAfter(timeMax) }
                let (result, exit) = await finish()
                group.cancelAll()
                var isLate = false
                for await ending in group {
                    switch ending {
                    case .sourceFailed(let error): return .failure(error)
                    case .timedOut: isLate = true
                    case .fed, .idle: break
                    }
                }
                if Task.isCancelled { return .failure(CancellationError()) }
                return .success(isLate ? .timedOut : Self.outcome(exit, output: result))
            }.get()
        } onCancel: {
            child.send(SIGKILL)
        }
    }

    /// Writes the picture to the process until its end, or until the process reads no more.
    private func feed(_ piece: @Sendable (Int) async throws -> [UInt8]?) async -> Ending {
        defer { input.closeWriteEnd() }
        do {
            var number = 0
            while let bytes = try await piece(number) {
                let isOpen = try await Blocking.run { [input] in input.writeAll(bytes) }
                guard isOpen else { return .idle }
                number += 1
            }
            return .fed
        } catch {
            guard !Task.isCancelled else { return .idle }
            child.send(SIGKILL)
            return .sourceFailed(error)
        }
    }

    private func killAfter(_ time: Duration) async -> Ending {
        do {
            try await Task.sleep(for: time)
        } catch {
            return .idle
        }
        guard child.isRunning else { return .idle }
        child.send(SIGKILL)
        return .timedOut
    }

    /// Reads the result to its end and waits for the end of the process. Ignores cancellation, which kills the process.
    private func finish() async -> (result: [UInt8], exit: ChildProcess.Exit) {
        let bytes = await withCheckedContinuation { continuation in
            Blocking.thread { [output] in
                let bytes = Files.readAll(output.readEnd, byteCountMax: Thumbnail.encodedByteCountMax + 1)
                continuation.resume(returning: bytes)
            }
        }
        return (bytes, await child.exit())
    }

    private static func outcome(_ exit: ChildProcess.Exit, output: [UInt8]) -> Drawing {
        switch exit {
        case .status(0):
            guard let thumbnail = Thumbnail(encoded: output) else { return .failed("its result is malformed") }
            return .drawn(thumbnail)
        case .status(let status):
            switch ThumbnailerStatus(rawValue: status) {
            case .unreadable: return .unreadable
            case .tooLarge: return .tooLarge
            case .noSandbox: return .failed("it could not install its sandbox (seccomp)")
            case .failed, nil: return .failed("it \(exit)")
            }
        case .signal(let signal): return .killed(signal: signal)
        case .unknown: return .failed("it \(exit)")
        }
    }
}
