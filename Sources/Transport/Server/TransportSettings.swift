// The limits and timeouts of the HTTP transport. Each limits what a client can make the server hold. None is optional.

/// Where the server listens, and every limit of a connection and of a request.
///
/// A sweep over the connections checks timeouts about once a second. So each ends between its value and two seconds
/// later.
package struct TransportSettings: Sendable {
    /// A host name or an address to bind: `0.0.0.0` or `::` for all.
    package var host = "127.0.0.1"
    /// 0 chooses a free port.
    package var port = 8080
    /// The number of event loops, if the server creates its own group.
    package var threadCount = 2
    /// Open connections. For one more, the longest idle connection is closed. If none is idle, the new one is answered
    /// 503.
    package var connectionCountMax = 20_000
    /// The share of connections, in percent, that one client address may have on a nearly full node. 100 turns the
    /// limit off.
    package var addressSharePercent = 25
    /// Connections of these proxies count for no address.
    package var trustedProxies = TrustedProxies()
    /// Request line and headers together.
    package var headerByteCountMax = 32 * 1024
    /// The target in the request line: 414. A target above `headerByteCountMax` looks like large headers: 431.
    package var targetByteCountMax = 16 * 1024
    package var headerCountMax = 100
    /// The largest body of any request. The handler sets the limit of a single request.
    package var bodyByteCountMax = 1024 * 1024
    /// The total size of the bodies of requests that are arriving or being answered. Above it the largest incomplete
    /// body is refused. Each event loop has the same share.
    package var incomingTotalByteCountMax = 256 * 1024 * 1024
    /// A body of at least this size counts in that total until its request is answered.
    package var countedBodyByteCountMin = 16 * 1024
    /// The largest body that is read and dropped after an early answer, to keep the connection open.
    package var droppedBodyByteCountMax = 64 * 1024
    /// From the opening of the connection, or the first bytes of a later request, to the end of the headers.
    package var headerTimeout = Duration.seconds(10)
    /// From the end of the headers to the end of the body.
    package var bodyTimeout = Duration.seconds(30)
    /// A streamed body must arrive at this rate, in bytes a second, over any `uploadRateWindow` in which the server waits
    /// for the client. Its whole time has no limit.
    package var uploadByteRateMin = 8 * 1024
    package var uploadRateWindow = Duration.seconds(30)
    /// Bytes of a streamed body that may wait for the handler. At this number reading pauses. The read before the pause
    /// may add 256 KiB.
    package var uploadBufferByteCount = 128 * 1024
    /// The receive buffer of a connection from its first streamed body on. The kernel doubles it for its own use.
    package var uploadReceiveBufferByteCount = 256 * 1024
    /// The time that a kept-alive connection may stay without a request.
    package var idleTimeout = Duration.seconds(75)
    /// The time within which a client must take some of the bytes that wait for it.
    package var writeTimeout = Duration.seconds(30)
    /// The time that sent bytes may stay unacknowledged, or find no room at the client (`TCP_USER_TIMEOUT`). It detects
    /// a client that vanished. On a quiet stream nothing else does. Longer than `writeTimeout`, so that a slow reader
    /// of large answers is cut off, and counted, by that.
    package var acknowledgementTimeout = Duration.seconds(40)
    /// After an answer that closes: how long input is discarded, so that the kernel does not reset the connection
    /// before the client has read the answer (RFC 9112, 9.6).
    package var lingerTimeout = Duration.seconds(2)
    /// How long an ordinary request may be answered after its client has closed its sending side. See ``Reply``.
    package var halfCloseGrace = Duration.seconds(2)
    /// Requests, and bytes of their bodies, received behind one that waits for its answer. Above either, reading
    /// pauses. Requests of one connection are handled one after the other. A client that sends 32 times as many is cut
    /// off.
    package var pipelinedRequestCountMax = 8
    package var pipelinedByteCountMax = 64 * 1024

    /// Bytes that may wait for a client on a stream whose writer does not wait.
    package var unsentByteCountMax = 1024 * 1024
    /// Bytes that may wait for all clients together. Above it the sweep cuts off clients that take nothing, those with
    /// most bytes first, long before their `writeTimeout`.
    package var unsentTotalByteCountMax = 256 * 1024 * 1024
    /// How long a drain waits, after its deadline, for the tasks that it has cancelled.
    package var cancellationGrace = Duration.seconds(1)

    /// The server's own TLS. Nil for none, as behind a proxy with TLS.
    package var tls: TLSIdentity?
    /// The web pages of other origins that may read the answers. Nil for none.
    package var crossOrigin: CrossOriginPolicy?

    package init() {}

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The number of connections that one client address may have on a nearly full node.
    var addressConnectionCountMax: Int { max(1, connectionCountMax * addressSharePercent / 100) }

    /// The last connections, reserved for addresses below their share.
    var reservedConnectionCount: Int { addressSharePercent < 100 ? connectionCountMax / 8 : 0 }

    /// The bytes of a streamed body that must arrive in each `uploadRateWindow`.
    var uploadByteCountMin: Int { Int(Double(uploadByteRateMin) * (uploadRateWindow / .seconds(1))) }

    /// Half of the shortest timeout, between 10 ms and 1 s: the sweep looks at every connection's time.
    var sweepInterval: Duration {
        let timeouts = [
            headerTimeout, bodyTimeout, uploadRateWindow, idleTimeout, writeTimeout, lingerTimeout, halfCloseGrace,
        ]
        let shortest = timeouts.min() ?? .seconds(4)
        return max(.milliseconds(10), min(.seconds(1), shortest / 2))
    }
}
