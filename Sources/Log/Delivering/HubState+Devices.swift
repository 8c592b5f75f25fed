// Which devices poll here, for planning alerts: which came, and which have not polled for 2 s. A poll costs a look-up
// in its mailbox, and its end records the time. Waiting polls cost nothing.
import Domain
import Store

/// A device that polls here, or did until recently. Confined to the hub's lock.
final class PolledDevice {
    let identity: Identity
    /// The furthest cursor that it polled with: it has received everything up to it.
    private(set) var position: Position
    /// How many of its polls are under way.
    var openCount = 0
    /// When its last poll ended.
    var endedTick = 0
    /// Whether it counts as polling. False again when it has gone.
    var isHere = false
    /// Whether the hub will check it at some tick.
    var isAwaited = false
    /// Whether its coming or going is not reported to the database yet.
    var isChanged = false
    /// After it has gone: the position up to which it is known to have received everything.
    var has: Position?
    /// The last position that a stream was sent, and when.
    private var sent: (position: Position, tick: Int)?

    init(_ identity: Identity, position: Position) {
        self.identity = identity
        self.position = position
    }

    /// Records a poll with a cursor of its own.
    func record(acked position: Position) {
        self.position = max(self.position, position)
        sent = nil
    }

    /// Records what a stream was sent. A stream never acknowledges. An event counts as received 45 s after it was sent,
    /// because the kernel closes a dead connection after 40 s.
    func record(sent position: Position, at tick: Int) {
        guard let before = sent else {
            sent = (position, tick)
            return
        }
        guard tick - before.tick >= HubLimits.streamLagTickCount else { return }
        self.position = max(self.position, before.position)
        sent = (position, tick)
    }

    /// Forgets that it received positions from `end` on: the log has lost them.
    func forget(from end: Position) {
        position = min(position, Position(end.value - 1))
        sent = nil
    }
}

/// The devices that poll here.
struct Pollers {
    /// Devices that count as polling.
    var here: [SessionID: PolledDevice] = [:]
    /// Devices to check, by tick.
    var awaited: [Int: [PolledDevice]] = [:]
    /// Devices that came or went since the last `takeDevices`.
    var changed: [PolledDevice] = []

    mutating func recordChange(_ poller: PolledDevice) {
        guard !poller.isChanged else { return }
        poller.isChanged = true
        changed.append(poller)
    }
}

/// The devices that came to this node and that went.
package struct DeviceChanges: Sendable {
    package var came: [PollingDevice] = []
    package var gone: [PollingDevice] = []
}

extension HubState {
    /// Records that the device polls, with a cursor of its own (`acks`) or as a stream that continues.
    mutating func recordPoll(_ identity: Identity, in mailbox: Mailbox?, at position: Position, acks: Bool)
        -> PolledDevice
    {
        let index = mailbox?.devices.firstIndex { $0.session == identity.session }
        let known = index.flatMap { mailbox?.devices[$0].poller }
        let poller =
            known ?? pollers.here[identity.session] ?? PolledDevice(identity, position: acks ? position : .start)
        if known == nil, let index { mailbox?.devices[index].poller = poller }
        if acks { poller.record(acked: position) } else { poller.record(sent: position, at: tick) }
        if !poller.isHere {
            poller.isHere = true
            pollers.here[identity.session] = poller
            pollers.recordChange(poller)
        }
        return poller
    }

    /// Records that a poll of the device has ended, or was answered at once.
    mutating func recordEnd(_ poller: PolledDevice) {
        poller.endedTick = tick
        guard poller.openCount == 0, !poller.isAwaited else { return }
        lookAgain(at: tick + limits.deviceWaitTickCount, poller)
    }

    /// Records the end of a poll that waited.
    mutating func recordEnd(_ poll: ParkedPoll) {
        poll.poller.openCount -= 1
        recordEnd(poll.poller)
    }

    /// Records that a poll reads the database, whether or not there is a mailbox.
    mutating func beginRead(_ identity: Identity, from position: Position, acks: Bool) -> SessionID {
        recordPoll(identity, in: mailboxes[identity.user], at: position, acks: acks).openCount += 1
        return identity.session
    }

    mutating func endRead(_ session: SessionID) {
        guard let poller = pollers.here[session] else { return }
        poller.openCount -= 1
        recordEnd(poller)
    }

    private mutating func lookAgain(at tick: Int, _ poller: PolledDevice) {
        poller.isAwaited = true
        pollers.awaited[max(tick, self.tick + 1), default: []].append(poller)
    }

    /// Records the devices as gone that have not polled for `deviceWaitTickCount`. Costs nothing for devices that have.
    mutating func expireDevices() {
        for poller in pollers.awaited.removeValue(forKey: tick) ?? [] {
            poller.isAwaited = false
            guard poller.isHere, poller.openCount == 0 else { continue }
            if poller.endedTick + limits.deviceWaitTickCount > tick {
                lookAgain(at: poller.endedTick + limits.deviceWaitTickCount, poller)
            } else {
                recordGone(poller)
            }
        }
    }

    mutating func recordGone(_ poller: PolledDevice) {
        guard poller.isHere else { return }
        poller.isHere = false
        poller.has = known(of: poller)
        pollers.here[poller.identity.session] = nil
        pollers.recordChange(poller)
    }

    /// Records that all devices have gone: the node stops.
    mutating func recordAllGone() {
        for poller in pollers.here.values { recordGone(poller) }
    }

    /// Returns up to where the device has received everything: its cursor, and later positions with events for others
    /// only.
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
