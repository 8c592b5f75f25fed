// One whole request as the handler gets it. Nothing is decoded here: percent-encoding is the API's business.

import Basics
import HTTPTypes
import NIOCore

/// A request with its whole body.
package struct InboundRequest: Sendable {
    package let number: RequestNumber
    package let method: HTTPRequest.Method
    /// Path and query as sent (still percent-encoded), or `*` for OPTIONS. Valid UTF-8 without spaces, control
    /// characters or `#`. An absolute target has been reduced to its path.
    package let target: String
    package let headers: RequestHeaders
    package let body: ByteBuffer
    package let eventLoop: any EventLoop
    let pathByteCount: Int
    /// Who is at the other end of the connection: a proxy, where the service is behind one. Nil on a Unix socket.
    package let peerAddress: IPAddress?

    /// The target before the first `?`.
    package var path: Substring {
        target.utf8.count == pathByteCount ? target[...] : target[..<queryMark]
    }

    /// The target after the first `?`; nil without one.
    package var query: Substring? {
        target.utf8.count == pathByteCount ? nil : target[target.utf8.index(after: queryMark)...]
    }

    private var queryMark: String.Index { target.utf8.index(target.utf8.startIndex, offsetBy: pathByteCount) }
}
