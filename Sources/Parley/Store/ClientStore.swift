// The local store: one SQLite database, one writer, and a note to the lists after each transaction.
import Foundation
internal import GRDB

/// Where a client keeps its data.
@nonexhaustive
public enum StoreLocation: Sendable {
    /// A directory of the client's own. It is made if it is absent. One client at a time may open it.
    case file(directory: URL)
    /// Nothing survives the client.
    case memory
}

final class ClientStore: Sendable {
    let changes = ChangeHub()
    let flights = Flights()
    private let database: any DatabaseWriter
    private let lock: StoreLock?
    /// Grows with each transaction.
    private let version: Locked<Int64>
    private let isClosed = Locked(false)
    private let poll = Locked(0)

    /// Opens the store and brings its tables up to date. Throws `storeInUse` and `storeFailed`.
    init(_ location: StoreLocation) throws {
        var configuration = Configuration()
        configuration.label = "parley"
        configuration.maximumReaderCount = 3
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // The unit is KiB. Readers find most pages in the cache of the system.
            let cache = database.configuration.readonly ? 500 : 2000
            try database.execute(sql: "pragma synchronous = normal; pragma cache_size = -\(cache)")
        }
        do {
            switch location {
            case .memory:
                lock = nil
                database = try DatabaseQueue(configuration: configuration)
            case .file(let directory):
                try FileManager.default.createDirectory(
                    at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                lock = try StoreLock(directory)
                let path = directory.appendingPathComponent("parley.sqlite").path
                database = try DatabasePool(path: path, configuration: configuration)
            }
            try Schema.migrator.migrate(database)
            version = Locked(try database.read { try Int64($0.value("version") ?? "0") ?? 0 })
        } catch {
            throw storeError(error)
        }
    }

    /// Polls are numbered, so that a confirmed mark knows when its event must have arrived.
    var currentPoll: Int { poll.withLock { $0 } }

    func nextPoll() -> Int {
        poll.withLock { poll in
            poll += 1
            return poll
        }
    }

    func close() throws {
        isClosed.withLock { $0 = true }
        changes.close()
        try database.close()
        lock?.release()
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        guard !isClosed.withLock({ $0 }) else { throw ParleyError.closed }
        do { return try await database.read(body) } catch { throw storeError(error) }
    }

    /// Runs `body` in one transaction: all of it is stored, or nothing. Lists are notified afterwards.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout Fold) throws -> Value
    ) async throws -> Value {
        guard !isClosed.withLock({ $0 }) else { throw ParleyError.closed }
        let next = version.withLock { version in
            version += 1
            return version
        }
        do {
            let (value, changed) = try await database.write { [flights] database in
                var fold = try Fold(database, version: next)
                let value = try body(&fold)
                try fold.finish()
                // Inside the transaction: the next one must know.
                flights.record(fold.touches)
                return (value, fold.changes)
            }
            changes.publish(changed)
            return value
        } catch {
            throw storeError(error)
        }
    }
}

/// An error of the database as the library throws it.
private func storeError(_ error: any Error) -> any Error {
    error is ParleyError || error is CancellationError ? error : ParleyError.storeFailed("\(error)", cause: error)
}

/// A lock file in the store's directory. It refuses a second client, which would poll and send the same messages again.
final class StoreLock: Sendable {
    private let descriptor: Locked<Int32?>

    init(_ directory: URL) throws {
        let path = directory.appendingPathComponent("lock").path
        let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw ParleyError.storeFailed("\(path): \(String(cString: strerror(errno)))") }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            Foundation.close(opened)
            throw ParleyError.storeInUse(path: directory.path)
        }
        descriptor = Locked(opened)
    }

    func release() {
        descriptor.withLock { descriptor in
            if let open = descriptor { Foundation.close(open) }
            descriptor = nil
        }
    }

    deinit { release() }
}
