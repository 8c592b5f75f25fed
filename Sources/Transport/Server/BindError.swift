// Why a server cannot listen, as a sentence for the operator.

import Glibc
import NIOCore
import NIOPosix

/// The listening socket could not be opened.
package struct BindError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case portTaken
        case addressNotAvailable
        case notPermitted
        case unknownHost
        case other
    }

    package let reason: Reason
    /// One sentence that can be shown as it is.
    package let description: String

    init(_ error: any Error, host: String, port: Int) {
        let place = "\(host):\(port)"
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            reason = .portTaken
            description = "Cannot listen on \(place): another process uses this port. Stop it or choose another port."
        case EADDRNOTAVAIL:
            reason = .addressNotAvailable
            description = "Cannot listen on \(place): this machine does not have this address."
        case EACCES, EPERM:
            reason = .notPermitted
            description = "Cannot listen on \(place): permission denied (ports under 1024 need a privilege)."
        case .some:
            reason = .other
            description = "Cannot listen on \(place): \(error)."
        case nil where error is SocketAddressError.UnknownHost || error is SocketAddressError:
            reason = .unknownHost
            description = "Cannot listen on \(place): the host name cannot be resolved."
        case nil:
            reason = .other
            description = "Cannot listen on \(place): \(error)."
        }
    }
}
