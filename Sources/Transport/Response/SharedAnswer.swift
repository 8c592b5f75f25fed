// An answer that many connections get, rendered once.

import NIOCore

/// The bytes of an answer. Only the request's number differs between the connections that get it.
struct SharedAnswer {
    var bytes = ByteBuffer()
    let numberIndex: Int
    /// The origin that the answer is for; see `CrossOriginPolicy`.
    let originNumber: Int

    /// The bytes are for HTTP/1.1 connections that stay open.
    init(_ response: OutboundResponse, common: ByteBuffer, crossOrigin: ByteBuffer?, originNumber: Int) {
        self.originNumber = originNumber
        bytes.reserveCapacity(response.body.readableBytes + 512)
        numberIndex = bytes.writeHead(
            response.status, response.headers, number: RequestNumber(value: 0),
            framing: .length(response.body.readableBytes), connection: .none, common: common, crossOrigin: crossOrigin)
        bytes.writeImmutableBuffer(response.body)
    }
}
