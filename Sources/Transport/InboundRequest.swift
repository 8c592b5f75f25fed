// One whole request as the handler gets it. Nothing is decoded here: percent-encoding is the API's business.

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
    let peer: SocketAddress?

    /// The target before the first `?`.
    package var path: Substring {
        target.utf8.count == pathByteCount ? target[...] : target[..<queryMark]
    }

    /// The target after the first `?`; nil without one.
    package var query: Substring? {
        target.utf8.count == pathByteCount ? nil : target[target.utf8.index(after: queryMark)...]
    }

    /// The peer's IP address in text, without the port. That is a proxy's address behind a proxy.
    package var remoteAddress: String? { peer?.ipAddress }

    private var queryMark: String.Index { target.utf8.index(target.utf8.startIndex, offsetBy: pathByteCount) }
}
