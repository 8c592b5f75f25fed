// Handles the outbox in a database of another program.
import Basics
import Domain
import Logging
import Store
import Workers

/// Runs on every node, for each database of the setting. The node with the database's lease reads rows, appends them to
/// the log, and deletes them. A node that dies in between leaves rows that are appended already: appending them again
/// changes nothing, because their ids are known.
struct OutboxReader: Sendable {
    private static let batchCount = 100
    /// After this time another node takes over from one that died.
    private static let leaseSeconds = 3
    private static let retryFirst = Duration.milliseconds(250)
    private static let retryMax = Duration.seconds(15)

    /// The place in the setting, from 1.
    let number: Int
    let database: OutboxDatabase
    /// The connection string without secrets.
    let place: String
    let store: Store
    let limits: Limits
    let metrics: OutboxMetrics
    let logger: Logger

    /// Runs until cancelled. A database that is down is retried for ever, and logged once when it goes and once when it
    /// comes back.
    func run() async throws {
        var backoff = Backoff(first: Self.retryFirst, cap: Self.retryMax)
        var isAway = false
        while true {
            do {
                try Task.checkCancellation()
                let count = try await step()
                if isAway { logger.notice("the outbox database answers again", metadata: ["database": "\(place)"]) }
                isAway = false
                backoff.reset()
                metrics.setReachable(true, number)
                if count == 0 { try await Ticker.sleep() }
            } catch {
                if Task.isCancelled {
                    await database.shutdown()
                    throw CancellationError()
                }
                metrics.failures.add()
                // A problem is Parley's database's, and others log it.
                if !(error is Problem) {
                    metrics.setReachable(false, number)
                    if !isAway {
                        logger.warning(
                            "reading the outbox failed; retrying with a growing delay, at most \(Self.retryMax)",
                            metadata: ["database": "\(place)", "reason": "\(error)"])
                    }
                    isAway = true
                }
                try? await Task.sleep(for: backoff.next(random: .random(in: 0..<1)))
            }
        }
    }

    /// Returns how many rows it handled.
    private func step() async throws -> Int {
        let rows = try await database.read(limit: Self.batchCount, leaseSeconds: Self.leaseSeconds, limits: limits)
        var rest = rows[...]
        while let first = rest.first {
            // Messages together, any other row alone.
            var part = first.kind == .send ? rest.prefix { $0.kind == .send } : rest.prefix(1)
            rest = rest.dropFirst(part.count)
            let all = Array(part)
            var refusals: [OutboxRefusal] = []
            if first.kind == .send {
                part = []
                for row in all {
                    do {
                        part.append(try checked(row))
                    } catch {
                        refusals.append(OutboxRefusal(seq: row.seq, error))
                    }
                }
            }
            if !part.isEmpty { refusals += try await store.applyOutbox(Array(part), limits: limits) }
            try await database.settle(all, refused: refusals)
            metrics.record(
                OutboxProgress(handledCount: all.count, failedCount: refusals.count), of: number)
        }
        return rows.count
    }

    /// The row with its payload as the API would store it. The other database's owner may have written any row.
    private func checked(_ row: OutboxRow) throws(Problem) -> OutboxRow {
        guard let message = row.message, let payload = row.payload else {
            throw .invalid("payload", "A message needs an id and a payload.")
        }
        do {
            let json = try JSONReader.read(payload.utf8)
            let draft = try MessageDraft(.object([.init("payload", json)]), limits: limits)
            var row = row
            row.message = message
            row.payload = draft.payload.text
            row.attachments = draft.payload.attachments
            return row
        } catch let error as JSONError {
            throw Problem(error)
        } catch let error as Invalid {
            throw Problem(error)
        } catch {
            throw Problem(.internalError, "\(error)")
        }
    }
}
