// Draws the next random actions from those that are possible.

import TestSupport

/// Draws operations that are mostly possible, numbered from 1.
struct OperationGenerator {
    private var random: SplitMix64
    private var number = 0
    private static let threadCountMax = 9
    private static let emojis = ["👍", "❤️", "🎉"]

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    /// Draws operations that happen at once: mostly one, sometimes a few on different devices.
    mutating func draw(_ player: HistoryPlayer, nodeCount: Int) -> [Operation] {
        let count = random.chance(3) ? 2 + random.below(4) : 1
        let devices = Array((0..<HistoryPlayer.deviceCount).shuffled(using: &random).prefix(count))
        return devices.map { device in
            number += 1
            let isQuiet = random.chance(3)
            // Never together with others: a message sent at the same time may be stored with the previous name.
            let isProfile = !isQuiet && count == 1 && random.chance(40)
            let kind = isQuiet ? quiet(device, player) : isProfile ? .profile : loud(device, player)
            return Operation(number: number, device: device, node: random.below(nodeCount), kind: kind)
        }
    }

    /// Most devices follow the log all the time; some are offline for long, others load the inbox again.
    private mutating func quiet(_ device: Int, _ player: HistoryPlayer) -> Operation.Kind {
        switch random.below(20) {
        case 0: return .reload
        case 1: return .disconnect
        case 2, 3: return .check
        case 4...7: return .poll(pages: 1 + random.below(3), limit: 1 + random.below(8), waitS: 0)
        case 8: return .poll(pages: 1, limit: 100, waitS: 1)
        case 9, 10:
            let person = HistoryPlayer.person(device)
            let joined = player.threads.filter { $0.value.parts[person] == .joined }.map(\.key).sorted()
            guard let thread = joined.randomElement(using: &random) else { fallthrough }
            return .scroll(thread, limit: 1 + random.below(5))
        default: return .poll(pages: 100, limit: 1 + random.below(100), waitS: 0)
        }
    }

    private mutating func loud(_ device: Int, _ player: HistoryPlayer) -> Operation.Kind {
        let person = HistoryPlayer.person(device)
        let invitations = player.threads.filter { $0.value.parts[person] == .invited }.map(\.key).sorted()
        if let thread = invitations.randomElement(using: &random), random.chance(4) {
            return .thread(thread, random.chance(4) ? .leave : .join)
        }
        // Sorted by number, which is the order of creation, so that a seed repeats a history.
        let joined = player.threads.filter { $0.value.parts[person] == .joined }.map(\.key).sorted()
        guard let number = joined.randomElement(using: &random), !random.chance(25) else {
            return opening(person, player)
        }
        guard let thread = player.threads[number] else { return opening(person, player) }
        switch random.below(100) {
        case 0..<30: return .thread(number, message(person, thread))
        case 30..<50:
            guard let message = change(of: number, thread, person, player) else { fallthrough }
            return message
        case 50..<70: return .thread(number, receipt(device, thread, player))
        case 70..<76: return .thread(number, .settings(settings(device, thread, player)))
        default: return .thread(number, membership(person, thread))
        }
    }

    private mutating func other(than person: Int) -> Int {
        (person + 1 + random.below(HistoryPlayer.personCount - 1)) % HistoryPlayer.personCount
    }

    private mutating func opening(_ person: Int, _ player: HistoryPlayer) -> Operation.Kind {
        let open = player.threads.filter { !$0.value.isDirect && $0.value.parts[person] == nil }.map(\.key).sorted()
        if player.threads.count >= Self.threadCountMax || random.chance(2) {
            if let thread = open.randomElement(using: &random) { return .thread(thread, .join) }
        }
        let others = (0..<HistoryPlayer.personCount).filter { $0 != person && !random.chance(3) }
        switch random.below(4) {
        case 0: return .openRoom
        case 1: return .openDirect(with: other(than: person), invite: random.chance(2))
        default: return .openGroup(with: others, invite: random.chance(2), isLarge: random.chance(2))
        }
    }

    private mutating func message(_ person: Int, _ thread: HistoryPlayer.Thread) -> Operation.ThreadKind {
        let members = thread.parts.filter { $0.value == .joined }.map(\.key).sorted()
        let mentions = random.chance(3) ? members.filter { _ in random.chance(2) } : []
        let replyTo = random.chance(5) ? thread.messages.suffix(10).randomElement(using: &random) : nil
        return .send(replyTo: replyTo, mentions: mentions, expiresInS: random.chance(12) ? 1 : nil)
    }

    private mutating func change(
        of number: Int, _ thread: HistoryPlayer.Thread, _ person: Int, _ player: HistoryPlayer
    ) -> Operation.Kind? {
        let isLate = random.chance(3)
        let latest = thread.messages.suffix(isLate ? 12 : 3)
        let own = latest.filter { player.messages[$0]?.person == person }
        guard let any = latest.randomElement(using: &random) else { return nil }
        let ownOrAny = own.randomElement(using: &random) ?? any
        switch random.below(22) {
        case 0..<4: return .message(in: number, ownOrAny, .edit)
        case 4..<10:
            let emoji = Self.emojis[random.below(Self.emojis.count)]
            return .message(in: number, any, .react(emoji, put: !random.chance(3)))
        case 10..<14: return .message(in: number, random.chance(2) ? any : ownOrAny, .delete(forAll: true))
        case 14..<19: return .message(in: number, any, .delete(forAll: false))
        default: return .thread(number, .deleteLast(forAll: random.chance(2)))
        }
    }

    private mutating func receipt(_ device: Int, _ thread: HistoryPlayer.Thread, _ player: HistoryPlayer)
        -> Operation.ThreadKind
    {
        let head = player.devices[device].fold.head(of: thread.id)
        let seq = max(1, head - random.below(5))
        switch random.below(9) {
        case 0..<4: return .read(seq)
        case 4: return .delivered(seq)
        default: return .unread(from: seq)
        }
    }

    private mutating func settings(_ device: Int, _ thread: HistoryPlayer.Thread, _ player: HistoryPlayer) -> String {
        switch random.below(8) {
        case 6: return #"{"custom":{"n":\#(random.below(9))},"labels":["work"]}"#
        case 0: return #"{"pinned":\#(random.chance(2))}"#
        case 7: return #"{"notify":"\#(["all", "mentions", "none"][random.below(3)])"}"#
        case 1: return #"{"archived":\#(random.chance(2))}"#
        case 2:
            return
                #"{"muted_until":\#(random.chance(2) ? "null" : #""2030-01-0\#(1 + random.below(9))T00:00:00.000Z""#)}"#
        case 3: return #"{"hidden_before_seq":0}"#
        default:
            let head = player.devices[device].fold.head(of: thread.id)
            return #"{"hidden_before_seq":\#(max(0, head + 1 - random.below(6)))}"#
        }
    }

    /// Mostly adds people who are not members, and sometimes removes members.
    private mutating func membership(_ person: Int, _ thread: HistoryPlayer.Thread) -> Operation.ThreadKind {
        let other = other(than: person)
        switch (random.below(9), thread.parts[other]) {
        case (0, _): return .rename
        case (1, _): return .image
        case (2, _): return .leave
        case (8, _):
            let others = [#"{"keep":"seconds","seconds":1}"#, #"{"keep":"until_delivered"}"#]
            return .retention(random.chance(2) ? #"{"keep":"forever"}"# : others[random.below(2)])
        case (_, nil): return random.chance(2) ? .invite(other) : .add(other)
        case (3, _), (4, .invited): return .remove(other)
        default: return .role(other, ["member", "admin", "admin", "owner"][random.below(4)])
        }
    }
}
