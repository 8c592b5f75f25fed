// Why a scan has no verdict.

package enum ScanFailure: Error, Equatable, CustomStringConvertible {
    /// No connection within the time for it, or it was refused.
    case unreachable(String)
    case timeout
    /// The connection ended before the answer.
    case lost(String)
    /// The bytes are more than the daemon's `StreamMaxLength`.
    case tooLarge
    /// The daemon answered with an error, or with something that is no answer.
    case refused(String)

    package var description: String {
        switch self {
        case .unreachable(let reason): "cannot connect to the virus scanner: \(reason)"
        case .timeout: "the virus scanner did not answer in time"
        case .lost(let reason): "the connection to the virus scanner broke: \(reason)"
        case .tooLarge: "the file is larger than the virus scanner accepts: raise StreamMaxLength in clamd.conf"
        case .refused(let answer): "the virus scanner answered \"\(answer)\""
        }
    }
}
