// The clock of the loops that claim, send and record.
import Basics
import Workers

extension DeliveryClock {
    static let system = DeliveryClock(now: { DeliveryTime(instant: .now, ms: WallClock.ms) })
}
