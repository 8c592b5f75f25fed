// Draws thumbnails in processes of their own: how many at once, and which executable. One process is ThumbnailProcess.
import Basics
import Glibc
import Linux
import Logging

/// Draws thumbnails with `parley-thumbnailer`: one process a picture, two at once, others wait in a bounded line.
package final class Thumbnailer: Sendable {
    /// The file in the directory of the running executable.
    package static let executableName = "parley-thumbnailer"

    private let executable: String
    private let timeMax: Duration
    private let slots: Slots<Int>

    /// Logs a warning if the executable is missing: everything else works without it.
    /// - Parameters:
    ///   - executable: absolute path; nil for the one in the directory of the running executable.
    ///   - timeMax: a process is killed after this time.
    package init(
        executable: String? = nil, logger: Logger, processCountMax: Int = 2, waitingCountMax: Int = 256,
        timeMax: Duration = .seconds(10)
    ) {
        self.executable = executable ?? InstalledProgram.path(Self.executableName)
        self.timeMax = timeMax
        slots = Slots(SlotLimits(slotCount: processCountMax, waitingCountMax: waitingCountMax))
        if !isInstalled {
            logger.warning(
                "parley-thumbnailer is missing: pictures get no thumbnails. Install it in the directory of parley, then restart",
                metadata: ["path": "\(self.executable)"])
        }
    }

    /// Whether the executable exists now.
    package var isInstalled: Bool { access(executable, X_OK) == 0 }

    /// How many pictures are drawn and how many wait, for metrics.
    package var load: (busy: Int, waiting: Int) { slots.load }

    /// Draws one picture.
    ///
    /// - Parameter piece: returns the file's pieces by number, from 0; nil after the last. It is asked for the next
    ///   piece when the process has read the last one, and no more once the process has ended.
    /// - Throws: `ThumbnailerBusy`, `CancellationError`, and what `piece` throws. The process has ended then.
    package func draw(_ piece: @escaping @Sendable (_ number: Int) async throws -> [UInt8]?) async throws -> Drawing {
        guard isInstalled else { return .missing }
        do {
            try await slots.enter(0)
        } catch is SlotRefusal {
            throw ThumbnailerBusy()
        }
        defer { slots.leave(0) }
        let process: ThumbnailProcess
        do {
            process = try await ThumbnailProcess(executable: executable)
        } catch {
            return .failed("\(error)")
        }
        return try await process.draw(piece, timeMax: timeMax)
    }
}
