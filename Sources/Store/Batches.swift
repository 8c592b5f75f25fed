// The two batched writes, messages and receipts: sending a batch, and reading the outcome of each item.
import Domain
import Postgres

extension Store {
    /// The database's answer to a batch, not decoded yet. The caller first sends the next batch, then has it decoded by
    /// `appended` or `moved`.
    package struct UndecodedBatch: Sendable {
        let rows: Rows
    }

    /// Why a batch failed as a whole.
    package enum BatchFailure: Error {
        /// The connection broke after sending: the batch may have been committed.
        case unknownOutcome
        /// Nothing was changed. The same batch may succeed later.
        case retryable(Problem)
        /// Nothing was changed: one item has the id of something that is stored.
        case idTaken
        /// Nothing was changed, because of one item's data. Retried in halves, all other items succeed.
        case data(Problem)

        /// Whether the batch can succeed without one of its items.
        package var isOfOneItem: Bool {
            switch self {
            case .idTaken, .data: true
            case .unknownOutcome, .retryable: false
            }
        }

        package var problem: Problem {
            switch self {
            case .unknownOutcome: Problem(database: .connectionLost(wasSent: true))
            case .idTaken: Problem(.internalError, "The database refused an id that is taken.")
            case .retryable(let problem), .data(let problem): problem
            }
        }
    }

    /// Called once when a batch has ended, on the database's I/O thread: it must not block.
    package typealias BatchDone = @Sendable (Result<UndecodedBatch, BatchFailure>) -> Void

    func begin(
        _ query: some Query, _ parameters: [Parameter], by deadline: ContinuousClock.Instant?,
        _ done: @escaping BatchDone
    ) {
        log.client.begin(query.statement(parameterCount: parameters.count), parameters, by: deadline) { result in
            switch result {
            case .success(let rows): done(.success(UndecodedBatch(rows: rows)))
            case .failure(let error): done(.failure(Self.batchFailure(error)))
            }
        }
    }

    private static func batchFailure(_ error: any Error) -> BatchFailure {
        switch error {
        case PostgresError.connectionLost(wasSent: true): return .unknownOutcome
        case let error as PostgresError:
            if case .server(let refusal) = error, refusal.sqlState == "23505" { return .idTaken }
            let problem = Problem(database: error)
            return problem.code == .internalError ? .data(problem) : .retryable(problem)
        default: return .retryable(.stopping)
        }
    }

    /// Returns the rows' outcomes by their first column, which counts items from 1.
    static func inOrder<Outcome>(
        _ batch: UndecodedBatch, count: Int, _ outcome: (Row) throws -> Outcome
    ) throws(BatchFailure) -> [Outcome] {
        do {
            var outcomes = [Outcome?](repeating: nil, count: count)
            for row in batch.rows { outcomes[Int(try row.int4(0)) - 1] = try outcome(row) }
            let all = outcomes.compactMap { $0 }
            guard all.count == count else { throw PostgresError.decoding("an item without an outcome") }
            return all
        } catch {
            throw .data(Problem(.internalError, "The database returned an unexpected result for a batch: \(error)"))
        }
    }
}
