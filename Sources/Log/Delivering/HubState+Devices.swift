// Which devices poll here, for push: who comes, and who hasn't polled for a moment. A poll costs a look at what its mailbox
// has of the device, and its end a note of the time; nothing is done for polls that wait.
import Domain
import Store

/// A device that polls here, or did a moment ago. Confined to the hub's lock.
final class PolledDevice {
    let identity: Identity
    /// The furthest cursor that it came with: it has everything before that.
    private(set) var position: Position
    /// Polls under way.
    var openCount = 0
    /// When one ended last.
    var endedTick = 0
    /// Whether it counts as polling. Back to false once it has gone.
    var isHere = false
    /// Whether the hub looks at it again at some tick.
    var isAwaited = false
    /// Whether the database has yet to hear that it came or went.
    var isChanged = false
    /// What it has, as far as is known now that it has gone.
    var has: Position?
    /// What a stream was sent, and when.
    private var sent: (position: Position, tick: Int)?

    init(_ identity: Identity, position: Position) {
        self.identity = identity
        self.position = position
    }

    /// It comes with a cursor of its own.
    func note(_ position: Position) {
        self.position = max(self.position, position)
        sent = nil
    }

    /// A stream goes on after a cursor. Nobody says that it has got what it was sent; but what it was sent longer ago than
    /// the kernel waits for a client to acknowledge anything, it has.
    func note(sent position: Position, at tick: Int) {
        guard let before = sent else {
            sent = (position, tick)
            return
        }
        guard tick - before.tick >= HubLimits.streamLagTickCount else { return }
        self.position = max(self.position, before.position)
        sent = (position, tick)
    }

    /// What was lost from `end` on it hasn't got.
    func forget(from end: Position) {
        position = min(position, Position(end.value - 1))
        sent = nil
    }
}

/// The devices that poll here.
struct Pollers {
    /// Those that count as polling.
    var here: [SessionID: PolledDevice] = [:]
    /// Those to be looked at, by tick.
    var awaited: [Int: [PolledDevice]] = [:]
    /// Those that have come or gone since the last call.
    var changed: [PolledDevice] = []

    mutating func noteChange(_ poller: PolledDevice) {
        guard !poller.isChanged else { return }
        poller.isChanged = true
        changed.append(poller)
    }
}

/// Who has come to this node and who has gone, as of now.
package struct DeviceChanges: Sendable {
    package var came: [PollingDevice] = []
    package var gone: [PollingDevice] = []
}

extension HubState {
    /// The device polls, with a cursor of its own (`acks`) or as a stream that goes on.
    mutating func noteDevice(_ identity: Identity, in mailbox: Mailbox?, at position: Position, acks: Bool)
        -> PolledDevice
    {
        let index = mailbox?.devices.firstIndex { $0.session == identity.session }
        let known = index.flatMap { mailbox?.devices[$0].poller }
        let poller =
            known ?? pollers.here[identity.session] ?? PolledDevice(identity, position: acks ? position : .start)
        if known == nil, let index { mailbox?.devices[index].poller = poller }
        if acks { poller.note(position) } else { poller.note(sent: position, at: tick) }
        if !poller.isHere {
            poller.isHere = true
            pollers.here[identity.session] = poller
            pollers.noteChange(poller)
        }
        return poller
    }

    /// A poll of the device's has ended, or was answered at once.
    mutating func noteEnd(_ poller: PolledDevice) {
        poller.endedTick = tick
        guard poller.openCount == 0, !poller.isAwaited else { return }
        lookAgain(at: tick + limits.deviceWaitTickCount, poller)
    }

    /// One that waited.
    mutating func noteEnd(_ poll: ParkedPoll) {
        poll.poller.openCount -= 1
        noteEnd(poll.poller)
    }

    /// A poll that the database is read for is under way, whether or not there is a mailbox.
    mutating func beginRead(_ identity: Identity, from position: Position, acks: Bool) -> SessionID {
        noteDevice(identity, in: mailboxes[identity.user], at: position, acks: acks).openCount += 1
        return identity.session
    }

    mutating func endRead(_ session: SessionID) {
        guard let poller = pollers.here[session] else { return }
        poller.openCount -= 1
        noteEnd(poller)
    }

    private mutating func lookAgain(at tick: Int, _ poller: PolledDevice) {
        poller.isAwaited = true
        pollers.awaited[max(tick, self.tick + 1), default: []].append(poller)
    }

    /// Devices that haven't polled for a while have gone. Costs nothing for those that have.
    mutating func noteGoneDevices() {
        for poller in pollers.awaited.removeValue(forKey: tick) ?? [] {
            poller.isAwaited = false
            guard poller.isHere, poller.openCount == 0 else { continue }
            if poller.endedTick + limits.deviceWaitTickCount > tick {
                lookAgain(at: poller.endedTick + limits.deviceWaitTickCount, poller)
            } else {
                noteGone(poller)
            }
        }
    }

    mutating func noteGone(_ poller: PolledDevice) {
        guard poller.isHere else { return }
        poller.isHere = false
        poller.has = known(of: poller)
        pollers.here[poller.identity.session] = nil
        pollers.noteChange(poller)
    }

    /// The node goes: no device polls here any more.
    mutating func noteAllGone() {
        for poller in pollers.here.values { noteGone(poller) }
    }

    /// What the device has: all before its cursor, and after it what isn't for it.
    private func known(of poller: PolledDevice) -> Position {
        let position = poller.position
        guard let mailbox = mailboxes[poller.identity.user],
            let next = mailbox.events(after: position, limit: 1, byteCountMax: 1)
        else { return position }
        guard let first = next.events.first else { return max(position, head) }
        return Position(first.position.value - 1)
    }

    mutating func takeDevices() -> DeviceChanges {
        var changes = DeviceChanges()
        for poller in pollers.changed {
            poller.isChanged = false
            if poller.isHere {
                changes.came.append(PollingDevice(poller, at: poller.position))
            } else if pollers.here[poller.identity.session] == nil {
                changes.gone.append(PollingDevice(poller, at: poller.has ?? poller.position))
            }
        }
        pollers.changed = []
        return changes
    }

    var devices: [PollingDevice] { pollers.here.values.map { PollingDevice($0, at: $0.position) } }
}

extension PollingDevice {
    fileprivate init(_ poller: PolledDevice, at position: Position) {
        self.init(session: poller.identity.session, user: poller.identity.user, position: position)
    }
}
