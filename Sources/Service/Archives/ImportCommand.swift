// `parley import`: reads an archive into the database, and continues where an interrupted run ended.
import Archives
import Cryptography
import Domain
import Linux
import Logging
import Postgres
import ServiceConfiguration
import Store

/// One run of the command. All its state is in the database, by the SHA-256 of the file.
package struct ImportCommand: Sendable {
    private static let readByteCount = 256 * 1_024
    private static let progressInterval = Duration.seconds(2)

    private let store: Store
    private let steps: ImportRun
    private let request: ImportRequest

    /// Returns the report as JSON; nil if nothing was to be imported. Throws `StartError`. Expects a schema that is up to
    /// date.
    package static func run(_ request: ImportRequest, logger: Logger) async throws -> String? {
        if let conversion = request.conversion {
            return try await ConvertedImport.run(request, conversion, logger: logger)
        }
        do {
            return try await Database.open(request.settings, logger: logger) { database in
                try await database.prepareSchema(.off, logger: logger)
                let client = PostgresClient(DatabasePools.forImports(database.settings), logger: logger)
                do {
                    let store = Store(client)
                    // The import writes events. Without a node that ever ran, the log has no partition for them yet.
                    _ = try await store.extendLog(days: request.settings.logDays)
                    let report = try await ImportCommand(store, request).run()
                    await client.shutdown()
                    return String(decoding: report.utf8, as: UTF8.self)
                } catch {
                    await client.shutdown()
                    throw error
                }
            }
        } catch let problem as Problem {
            throw StartError(problem.sentence())
        } catch let failure as ImportFailure {
            throw StartError("\(failure)")
        }
    }

    private init(_ store: Store, _ request: ImportRequest) {
        self.store = store
        self.request = request
        steps = ImportRun(
            store: store, limits: request.settings.limits, isDryRun: request.isDryRun,
            actor: AdminActor(name: "command line", requestID: nil), metrics: ImportMetrics())
    }

    /// A wrong line drops what was staged. After any other failure the same file continues there; what comes from a
    /// pipe cannot.
    private func run() async throws -> JSONText {
        let file = try request.path == "-" ? OpenFile.standardInput : open(request.path)
        let digest = request.path == "-" ? nil : try hash(file)
        let place = try await store.beginImport(digest: digest)
        do {
            if place.byteCount > 0 {
                StandardError.write("parley: continuing after \(place.lineCount) lines\n")
                try file.seek(to: place.byteCount)
            }
            var progress = Progress(interval: Self.progressInterval)
            try await steps.stage(from: place, staged: { progress.report($0) }, read: { try Self.read(file) })
            StandardError.write("parley: all lines are read; checking and applying them\n")
            return try await steps.finish(place.id)
        } catch {
            if digest == nil || error is ImportFailure { try? await store.dropImport(place.id) }
            throw error
        }
    }

    private func open(_ path: String) throws -> OpenFile {
        do {
            return try OpenFile(reading: path)
        } catch {
            throw StartError("\(error)")
        }
    }

    private func hash(_ file: OpenFile) throws -> [UInt8] {
        var hash = SHA256()
        while let bytes = try Self.read(file) { hash.update(bytes) }
        try file.seek(to: 0)
        return hash.finalize()
    }

    /// Blocks: the command does nothing else meanwhile.
    private static func read(_ file: OpenFile) throws -> [UInt8]? {
        do {
            let bytes = try file.read(upTo: readByteCount)
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw StartError("\(error)")
        }
    }

    /// The progress on standard error.
    private struct Progress {
        let interval: Duration
        private var writtenAt = ContinuousClock.now

        init(interval: Duration) { self.interval = interval }

        mutating func report(_ place: ImportPlace) {
            guard .now - writtenAt >= interval else { return }
            writtenAt = .now
            StandardError.write("parley: \(place.lineCount) lines read (\(place.byteCount) bytes)\n")
        }
    }
}
