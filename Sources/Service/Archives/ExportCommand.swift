// `parley export`: writes an archive to standard output.
import API
import Archives
import Domain
import Linux
import Logging
import Postgres
import ServiceConfiguration
import Store

package enum ExportCommand {
    private static let transferCountMax = 4
    private static let reportInterval = Duration.seconds(5)

    /// Returns true when the archive is complete, false if nobody reads standard output any more. Throws `StartError`.
    /// Expects a schema that is up to date.
    package static func run(_ request: ExportRequest, logger: Logger) async throws -> Bool {
        StandardOutput.prepare()
        let objects = try request.settings.makeObjectStore(transferCountMax: transferCountMax).map {
            ObjectDownloads(objects: $0, redirects: false, logger: logger)
        }
        var readObject: ArchiveWriter.ReadObject?
        if let objects { readObject = { key, range in try await objects.read(key, range) } }
        do {
            try await Database.open(request.settings, logger: logger) { database in
                try await database.prepareSchema(.off, logger: logger)
                let reader = ArchiveReader(database.listenSettings, request.scope, logger: logger)
                do {
                    let heading = request.scope.heading(at: try await reader.begin())
                    try await write(ArchiveWriter(reader, readObject: readObject), heading)
                    await reader.close()
                } catch {
                    await reader.close()
                    throw error
                }
            }
            return true
        } catch is StandardOutput.Closed {
            return false
        } catch let problem as Problem {
            throw StartError("the export is incomplete: \(problem.sentence())")
        }
    }

    private static func write(_ archive: ArchiveWriter, _ heading: [UInt8]) async throws {
        var archive = archive
        var report = Report()
        try await archive.run(heading: heading) { bytes, lineCount in
            try StandardOutput.write(bytes)
            report.record(lineCount, byteCount: bytes.count)
        }
        report.write(isComplete: true)
    }

    /// The progress on standard error.
    private struct Report {
        private var lineCount = 0
        private var byteCount = 0
        private var writtenAt = ContinuousClock.now

        mutating func record(_ lines: Int, byteCount bytes: Int) {
            lineCount += lines
            byteCount += bytes
            guard .now - writtenAt >= ExportCommand.reportInterval else { return }
            writtenAt = .now
            write(isComplete: false)
        }

        func write(isComplete: Bool) {
            StandardError.write(
                "parley: \(lineCount) lines exported (\(byteCount) bytes)\(isComplete ? "; complete" : "")\n")
        }
    }
}
