// A random log, and what each user may see of it by the rules alone. The laws are tested against it.
import Domain
import Store
import TestSupport

@testable import Log

/// One random history: the members of each thread after each position, and who may see the event there.
struct RandomHistory {
    let users = (0..<4).map { _ in UserID.make() }
    let threads = (0..<3).map { _ in ThreadID.make() }
    private(set) var events: [Event] = []
    /// At index `n`: the state at position `n`.
    private(set) var memberships: [[UserID: Set<ThreadID>]] = [[:]]
    private var audiences: [Set<UserID>] = [[]]

    init(count: Int, random: inout SplitMix64) {
        for position in Int64(1)...Int64(count) {
            let user = users[Int(random.next() % 4)]
            let thread = threads[Int(random.next() % 3)]
            var members = memberships[memberships.count - 1]
            let isMember = members[user]?.contains(thread) == true
            var audience = Set(users.filter { members[$0]?.contains(thread) == true })
            var stored = StoredEvent(
                position: Position(position), type: "", thread: thread, body: JSONText(utf8: [120]))
            switch random.next() % 10 {
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
            case 3:
                // Any earlier message of the thread, usually a late one.
                let messages = events.suffix(40).filter { $0.thread == thread && $0.begins.isEmpty && $0.ends.isEmpty }
                stored.withdraws = messages.randomElement(using: &random)?.position
            default:
                break
            }
            events.append(Event(stored))
            memberships.append(members)
            audiences.append(audience)
        }
    }

    /// The events for a user between two positions, the first excluded and the last included.
    func visible(to user: UserID, after position: Int64, upTo end: Int64) -> [Int64] {
        guard position < end else { return [] }
        return (position + 1...end).filter { audiences[Int($0)].contains(user) }
    }

    /// Messages whose content was withdrawn at or before a position.
    func withdrawn(by position: Int64) -> Set<Int64> {
        Set(events.prefix(Int(position)).compactMap { $0.withdraws?.value })
    }
}
