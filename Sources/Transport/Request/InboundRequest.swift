// A whole request, as the handler receives it. Percent-encoding is left to the API.

import Basics
import HTTPTypes
import NIOCore

/// A request with its whole body, or with a stream of it.
package struct InboundRequest: Sendable {
    package let number: RequestNumber
    package let method: HTTPRequest.Method
    /// Path and query as sent (still percent-encoded), or `*` for OPTIONS. Valid UTF-8 without spaces, control
    /// characters or `#`. An absolute target is reduced to its path.
    package let target: String
    package let headers: RequestHeaders
    /// The whole body. Empty if it is streamed.
    package let body: ByteBuffer
    /// The body, if the handler chose ``BodyDecision/stream(byteCountMax:)`` and the body had not arrived whole.
    package let bodyStream: RequestBodyStream?
    package let eventLoop: any EventLoop
    let pathByteCount: Int
    /// The other end of the connection: a proxy, if the service is behind one. Nil on a Unix socket.
    package let peerAddress: IPAddress?

    /// The body in pieces, whether it arrived whole or is streamed.
    package var pieces: RequestBody { RequestBody(whole: body, stream: bodyStream) }

    /// The target before the first `?`.
    package var path: Substring {
        target.utf8.count == pathByteCount ? target[...] : target[..<queryMark]
    }

    /// The target after the first `?`. Nil without one.
    package var query: Substring? {
        target.utf8.count == pathByteCount ? nil : target[target.utf8.index(after: queryMark)...]
    }

    private var queryMark: String.Index { target.utf8.index(target.utf8.startIndex, offsetBy: pathByteCount) }
}
