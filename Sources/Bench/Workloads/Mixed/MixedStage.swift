// The threads of the users in `parley bench mixed`.
import Domain

/// Users and their threads: each has two direct threads and one group of ten, and all share a room.
struct MixedStage: Sendable {
    let threads: [MixedThread]
    let people: [MixedPerson]

    static func make(_ bench: BenchRun) async throws -> MixedStage {
        let count = bench.settings.userCount
        let accounts = try await bench.accounts.make(count)
        // A ring: each user with the next.
        let direct = try await bench.directThreads(accounts.indices.map { (accounts[$0], accounts[($0 + 1) % count]) })
        let groups = try await bench.groups(
            stride(from: 0, to: count, by: BenchRun.groupSize).map { first in
                Array(accounts[first..<min(first + BenchRun.groupSize, count)])
            })
        let room = try await bench.room(of: accounts)

        let threads = try (direct + groups + [room]).map { id in
            guard let key = ThreadKey(id) else { throw BenchFailure("\(id) is not a thread id") }
            return MixedThread(id: id, key: key)
        }
        let people = accounts.indices.map { index in
            MixedPerson(
                account: accounts[index], directThreads: [index, (index + count - 1) % count],
                groups: [count + index / BenchRun.groupSize], room: threads.count - 1)
        }
        return MixedStage(threads: threads, people: people)
    }

    /// Each thread with a user who may read it.
    var historySources: [HistorySource] {
        var tokens: [Int: String] = [:]
        for person in people {
            for thread in person.allThreads { tokens[thread] = person.account.token }
        }
        return threads.enumerated().compactMap { index, thread in
            tokens[index].map { HistorySource(id: thread.id, key: thread.key, token: $0) }
        }
    }
}
