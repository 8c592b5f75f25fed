// `parley attachments move`: brings all attachments to one place while nodes serve.
import Basics
import Domain
import Linux
import Logging
import ObjectStore
import Postgres
import ServiceConfiguration
import Store

/// One run of the command. All its state is in the database: it can be stopped and run again.
package struct MoveCommand: Sendable {
    private static let transferCountMax = 32
    /// Attachments under way at once.
    private static let batchCount = 4
    /// Between looks for attachments that others are moving, and for objects that are being deleted.
    private static let waitInterval = Duration.seconds(1)
    private static let reportInterval = Duration.seconds(5)
    /// Batches in a row that found the store unavailable. Then the command gives up, after some two minutes.
    private static let outageCountMax = 8

    private let transfer: ObjectTransfer
    private let toObjectStore: Bool
    private let logger: Logger

    private var store: Store { transfer.store }

    /// Returns once all attachments are in their place. Throws `StartError` if some cannot be moved. Expects a schema
    /// that is up to date.
    package static func run(_ request: MoveRequest, logger: Logger) async throws {
        guard let objects = try request.settings.makeObjectStore(transferCountMax: transferCountMax) else {
            throw StartError("PARLEY_S3_ENDPOINT is not set.")
        }
        do {
            try await Database.open(request.settings, logger: logger) { database in
                try await database.prepareSchema(.off, logger: logger)
                let client = PostgresClient(database.settings, logger: logger)
                do {
                    let transfer = ObjectTransfer(store: Store(client), objects: objects)
                    try await MoveCommand(
                        transfer: transfer, toObjectStore: request.place == .s3, logger: logger
                    ).run()
                    await client.shutdown()
                } catch {
                    await client.shutdown()
                    throw error
                }
            }
        } catch let problem as Problem {
            throw StartError(problem.sentence())
        }
    }

    private func run() async throws {
        try await store.setAttachmentPlace(toObjectStore: toObjectStore)
        // Deletes the objects of earlier tries, which would otherwise wait for a node.
        let garbage = GarbageWorker(
            store: store, objects: transfer.objects, metrics: ObjectMetrics(), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await garbage.run() }
            group.addTask { try await moveAll() }
            defer { group.cancelAll() }
            // The garbage worker does not end by itself.
            try await group.next()
        }
    }

    private func moveAll() async throws {
        // Nodes may make more attachments ready all the time. Their movers are responsible for those.
        let began = WallClock.seconds + 1
        var report = Report()
        var backoff = Backoff(first: .seconds(1), cap: .seconds(30))
        while true {
            let moves = try await store.claimMoves(
                toObjectStore: toObjectStore, limit: Self.batchCount, leaseSeconds: ObjectTransfer.leaseSeconds)
            let results = try await withThrowingTaskGroup(of: Result.self) { group in
                for move in moves { group.addTask { try await perform(move) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for result in results { report.record(result) }
            if let reason = results.lazy.compactMap(\.outage).first {
                guard backoff.failureCount < Self.outageCountMax else {
                    throw StartError("\(reason); run the command again to continue.")
                }
                StandardError.write("parley: \(reason); trying again\n")
                try await Task.sleep(for: backoff.next(random: .random(in: 0..<1)))
                continue
            }
            backoff.reset()
            guard moves.isEmpty || report.isDue else { continue }
            // Counting a large backlog takes a while.
            let backlog = try await store.moveBacklog(toObjectStore: toObjectStore, createdBefore: began)
            if backlog == 0, try await isBucketEmptied() { break }
            if report.isDue { report.write(left: backlog) }
            guard moves.isEmpty else { continue }
            if backlog > 0, backlog <= report.stuck.count {
                throw StartError("\(backlog) attachments cannot be moved: their bytes are missing or damaged.")
            }
            // Nodes are moving the rest, or a lease of a dead one must end first.
            try await Task.sleep(for: Self.waitInterval)
        }
        report.write(left: 0)
    }

    /// After a move to PostgreSQL, the settings of the object store are needed until all objects are deleted.
    private func isBucketEmptied() async throws -> Bool {
        if toObjectStore { return true }
        return try await store.attachmentPlaces().garbage == 0
    }

    private enum Result: Sendable {
        case moved(byteCount: Int)
        case abandoned
        case stuck(AttachmentID)
        case outage(String)

        var outage: String? { if case .outage(let reason) = self { reason } else { nil } }
    }

    /// Throws `StartError` where no attachment can be moved.
    private func perform(_ move: AttachmentMove) async throws -> Result {
        do {
            switch try await transfer.perform(move, toObjectStore: toObjectStore) {
            case .moved(let byteCount): return .moved(byteCount: byteCount)
            case .abandoned: return .abandoned
            }
        } catch let error as ObjectStoreError {
            switch error {
            case .unavailable: return .outage("\(error)")
            case .refused, .rejected: throw StartError("\(error)")
            case .notFound, .damaged:
                StandardError.write("parley: attachment \(move.attachment) cannot be moved: \(error)\n")
                return .stuck(move.attachment)
            }
        }
    }

    /// The progress on standard error.
    private struct Report {
        private var movedCount = 0
        private var movedByteCount = 0
        private(set) var stuck: Set<AttachmentID> = []
        private var writtenAt: ContinuousClock.Instant?

        mutating func record(_ result: Result) {
            switch result {
            case .moved(let byteCount):
                movedCount += 1
                movedByteCount += byteCount
            case .stuck(let attachment): stuck.insert(attachment)
            case .abandoned, .outage: break
            }
        }

        var isDue: Bool { writtenAt.map { .now - $0 >= MoveCommand.reportInterval } ?? true }

        mutating func write(left: Int) {
            writtenAt = .now
            StandardError.write(
                "parley: \(movedCount) attachments moved (\(movedByteCount) bytes), \(left) left\n")
        }
    }
}
