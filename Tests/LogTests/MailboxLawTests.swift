// The law of the mailbox over random histories: nothing lost, nothing doubled, nothing out of order, nothing of others.
import Domain
import Store
import Testing

@testable import Log

@Suite("The mailboxes' law")
struct MailboxLawTests {
    /// One random history: who was in which thread after each position, and who may see the event there.
    private struct History {
        let users = (0..<4).map { _ in UserID.make() }
        let threads = (0..<3).map { _ in ThreadID.make() }
        var events: [Event] = []
        /// At index `n`: as of position `n`.
        var memberships: [[UserID: Set<ThreadID>]] = [[:]]
        var audiences: [Set<UserID>] = [[]]

        init(count: Int, random: inout Seeded) {
            for position in Int64(1)...Int64(count) {
                let user = users[Int(random.next() % 4)]
                let thread = threads[Int(random.next() % 3)]
                var members = memberships[memberships.count - 1]
                let isMember = members[user]?.contains(thread) == true
                var audience = Set(users.filter { members[$0]?.contains(thread) == true })
                var stored = StoredEvent(
                    position: Position(position), type: "", thread: thread, body: JSONText(utf8: [120]))
                switch random.next() % 8 {
                case 0 where !isMember:
                    stored.begins = [user]
                    members[user, default: []].insert(thread)
                    audience.insert(user)
                case 1 where isMember:
                    stored.ends = [user]
                    members[user]?.remove(thread)
                case 2:
                    stored.thread = nil
                    stored.user = user
                    audience = [user]
                default:
                    break
                }
                events.append(Event(stored))
                memberships.append(members)
                audiences.append(audience)
            }
        }

        func visible(to user: UserID, after position: Int64) -> [Int64] {
            audiences.indices.filter { Int64($0) > position && audiences[$0].contains(user) }.map(Int64.init)
        }
    }

    @Test("gives each user exactly what the log holds for them", arguments: UInt64(1)...200)
    func law(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let history = History(count: 150, random: &random)
        var state = HubState<Int>(start: Cursor(epoch: 1, position: .start))
        var cursors: [UserID: Int64] = [:]
        var starts: [UserID: Int64] = [:]
        var seen: [UserID: [Int64]] = [:]

        func take(_ user: UserID) {
            guard let cursor = cursors[user] else { return }
            let limit = 1 + Int(random.next() % 5)
            let identity = Identity(user: user, session: SessionID.make())
            let decision = state.poll(
                identity, from: Cursor(epoch: 1, position: Position(cursor)), limit: limit, waitTickCount: 0, waiter: 0)
            guard case .answer(.events(let events, let upTo, _)) = decision else {
                Issue.record("seed \(seed): no answer from the mailbox at \(cursor)")
                return
            }
            seen[user, default: []] += events.map(\.position.value)
            cursors[user] = upTo.position.value
        }

        var applied = 0
        while applied < history.events.count {
            let count = min(1 + Int(random.next() % 6), history.events.count - applied)
            _ = state.apply(Array(history.events[applied..<(applied + count)]))
            applied += count
            for user in history.users {
                if cursors[user] == nil, random.next() % 8 == 0 {
                    // A read of the database up to 10 events behind the tail, or ahead of it.
                    let snapshot = min(max(0, applied - 10 + Int(random.next() % 20)), history.events.count)
                    let threads = Array(history.memberships[snapshot][user] ?? [])
                    let opened = state.open(
                        user, threads: threads, at: Cursor(epoch: 1, position: Position(Int64(snapshot))))
                    #expect(opened)
                    cursors[user] = Int64(snapshot)
                    starts[user] = Int64(snapshot)
                } else if random.next() % 3 == 0 {
                    take(user)
                }
            }
        }
        for (user, start) in starts {
            for _ in 0..<history.events.count { take(user) }
            #expect(seen[user, default: []] == history.visible(to: user, after: start), "seed \(seed)")
        }
    }
}

/// A generator that gives the same for the same seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
