// What goes along with a request to its endpoint.
import Basics
import Hummingbird
import Synchronization
import Transport

struct APIContext: RequestContext {
    typealias Source = TransportContextSource

    var coreContext: CoreRequestContextStorage
    let number: RequestNumber
    /// The other end of the connection; a proxy's address behind a proxy.
    let peerAddress: IPAddress?
    let bodyByteCount: Int
    private let served = Served()

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        number = source.number
        peerAddress = source.peerAddress
        bodyByteCount = source.bodyByteCount
    }

    /// Names the request in the log and in the answer to a fault of ours. The text is made when it is asked for.
    var id: String { number.text }

    /// What the router found for the request. Copies of a context share it: who made the context learns it from there.
    var operation: OperationID {
        get { OperationID(rawValue: served.operation.load(ordering: .relaxed)) ?? .none }
        nonmutating set { served.operation.store(newValue.rawValue, ordering: .relaxed) }
    }

    private final class Served: Sendable {
        let operation = Atomic(OperationID.none.rawValue)
    }
}
