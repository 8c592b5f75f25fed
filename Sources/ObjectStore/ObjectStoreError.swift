// Why a request to the object store failed.

/// A closed list: callers decide by case whether to retry.
package enum ObjectStoreError: Error, Equatable {
    /// It was not reached, broke off, or asked to try later (5xx, 429, SlowDown). Retry.
    case unavailable(reason: String)
    /// It refuses the credentials, or has no such bucket. Nothing works until the operator changes the settings.
    case refused(reason: String)
    case notFound
    /// It refuses this request for another reason.
    case rejected(reason: String)
    /// The bytes are not those that the caller announced. Nothing was stored.
    case damaged
}

extension ObjectStoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let reason): "the object store is unavailable: \(reason)"
        case .refused(let reason):
            "the object store refuses the credentials or the bucket (check the PARLEY_S3_… settings): \(reason)"
        case .notFound: "the object is not in the object store"
        case .rejected(let reason): "the object store rejected the request: \(reason)"
        case .damaged: "the bytes do not have the recorded SHA-256"
        }
    }
}
