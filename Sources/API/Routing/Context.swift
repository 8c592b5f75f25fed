// The data that accompanies a request to its endpoint.
import Basics
import Hummingbird
import Synchronization
import Transport

struct APIContext: RequestContext {
    typealias Source = TransportContextSource

    var coreContext: CoreRequestContextStorage
    let number: RequestNumber
    /// The other end of the connection: a proxy, if the service is behind one.
    let peerAddress: IPAddress?
    let bodyByteCount: Int
    let interim: InterimAnswers
    private let served = Served()

    init(source: Source) {
        coreContext = CoreRequestContextStorage(source: source)
        number = source.number
        peerAddress = source.peerAddress
        bodyByteCount = source.bodyByteCount
        interim = source.interim
    }

    /// Identifies the request in the log and in the answer to an internal error. Rendered on each use.
    var id: String { number.text }

    /// The operation that the router found. Copies of a context share it, so the creator of the context can read it.
    var operation: OperationID {
        get { OperationID(rawValue: served.operation.load(ordering: .relaxed)) ?? .none }
        nonmutating set { served.operation.store(newValue.rawValue, ordering: .relaxed) }
    }

    private final class Served: Sendable {
        let operation = Atomic(OperationID.none.rawValue)
    }
}
