// Blocks during simultaneous sends on any nodes: the log's order decides.
import Domain
import Log
import Store
import TestSupport
import Testing

@Suite("Blocks in the log", .timeLimit(.minutes(2)))
struct BlocksInTheLog {
    private static func direct(_ user: UserID, _ other: UserID, in store: Store) async throws -> ThreadID {
        let thread = ThreadID.make()
        _ = try await store.createThread(
            id: thread, kind: .direct, title: nil, roomKey: nil, creator: user, members: [other], invite: false,
            retention: .forever)
        return thread
    }

    /// Sends until stopped; returns how many messages were stored and how many refused.
    private static func send(_ node: LogNode, _ thread: ThreadID, _ user: UserID, count: Int) async throws -> (Int, Int)
    {
        var (stored, refused) = (0, 0)
        for number in 1...count {
            do {
                _ = try await node.writer.append(.text("\(number)", in: thread, by: user))
                stored += 1
            } catch let problem as Problem where problem.code == .notReachable {
                refused += 1
            }
        }
        return (stored, refused)
    }

    @Test("no message of the blocked user follows the block in the log, with sends and blocks on two nodes at once")
    func logOrderDecides() async throws {
        let database = try await MigratedDatabase.create()
        let (one, two) = (try await LogNode(conninfo: database), try await LogNode(conninfo: database))
        try await one.running {
            try await two.running {
                let users = try await People(2, in: one.store).users
                let (ann, bob) = (users[0], users[1])
                let thread = try await Self.direct(ann, bob, in: one.store)
                let tallies = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                    for node in [one, two, one, two] {
                        group.addTask { try await Self.send(node, thread, bob, count: 150) }
                    }
                    for turn in 1...40 {
                        try await [one, two][turn % 2].store.putBlock(
                            of: bob, by: ann, isBlocked: !turn.isMultiple(of: 2))
                    }
                    return try await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
                }
                #expect(tallies.0 > 0 && tallies.1 > 0, "both were seen: \(tallies)")
                let log = try await Psql.run(
                    """
                    select case type when 'message.created' then 'm'
                        else body::json -> 'data' -> 'block' ->> 'blocked' end
                    from events where type in ('message.created', 'settings.updated') order by pos
                    """, conninfo: database)
                var isBlocked = false
                var (messages, wrong) = (0, 0)
                for line in log.split(separator: "\n") {
                    if line == "m" {
                        messages += 1
                        wrong += isBlocked ? 1 : 0
                    } else {
                        isBlocked = line == "true"
                    }
                }
                #expect(messages == tallies.0)
                #expect(wrong == 0)
            }
        }
    }

    @Test("a direct thread that is opened during a block comes before the block or not at all")
    func openingRaces() async throws {
        let database = try await MigratedDatabase.create()
        let node = try await LogNode(conninfo: database)
        try await node.running {
            let users = try await People(41, in: node.store).users
            let bob = users[0]
            var openedCount = 0
            for ann in users.dropFirst() {
                async let opening = Self.direct(bob, ann, in: node.store)
                async let blocking: Void = node.store.putBlock(of: bob, by: ann, isBlocked: true)
                let thread = try? await opening
                try await blocking
                guard let thread else { continue }
                openedCount += 1
                let refusal = await #expect(throws: Problem.self) {
                    _ = try await node.writer.append(.text("hi", in: thread, by: bob))
                }
                #expect(refusal?.code == .notReachable)
                #expect(try await node.store.typing(bob, in: thread) == nil)
                #expect(try await node.store.typing(ann, in: thread) == nil)
            }
            let threads = try await Psql.run("select count(*) from threads", conninfo: database)
            #expect(threads == "\(openedCount)")
        }
    }
}
