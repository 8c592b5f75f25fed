// `parley export`: writes an archive to standard output.
import API
import Domain
import Glibc
import Linux
import Logging
import Outbound
import Postgres
import ServiceConfiguration
import Store
import Transfer

package enum ExportCommand {
    private static let transferCountMax = 4

    /// Returns when the archive is complete. Throws `StartError`. Expects a schema that is up to date.
    package static func run(_ request: ExportRequest, logger: Logger) async throws {
        let objects = try request.settings.makeObjectStore(transferCountMax: transferCountMax).map {
            ObjectDownloads(objects: $0, redirects: false, logger: logger)
        }
        let scope = ArchiveScope(
            user: request.user, thread: request.thread, since: request.since, until: request.until)
        do {
            try await Database.open(request.settings, logger: logger) { database in
                try await database.prepareSchema(.off, logger: logger)
                let reader = ArchiveReader(database.listenSettings, scope, logger: logger)
                let heading = scope.heading(at: try await reader.begin())
                var writer = ArchiveWriter(reader, readObject: objects?.readForArchive)
                try await writer.run(heading: heading) { bytes in try write(bytes) }
                await reader.close()
                StandardError.write("parley: exported \(writer.digest.lineCount) lines\n")
            }
        } catch let problem as Problem {
            throw StartError(problem.description)
        }
    }

    private static func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw StartError("standard output can't be written: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }
}
