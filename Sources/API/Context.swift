// What goes along with a request through Hummingbird's router.
import Hummingbird
import Synchronization
import Transport

struct APIContext: RequestContext {
    typealias Source = TransportContextSource

    var coreContext: CoreRequestContextStorage
    private let number = RequestNumber.next()

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }

    /// Names the request in the log and in the answer to a fault of ours. The text is made when it is asked for.
    var id: String { number.text }
}

/// What names a request: counted up from a random start, so that those of several nodes hardly meet.
struct RequestNumber: Sendable {
    private static let last = Atomic(UInt64.random(in: .min ... .max))
    private let value: UInt64

    static func next() -> RequestNumber { RequestNumber(value: last.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// 16 hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
