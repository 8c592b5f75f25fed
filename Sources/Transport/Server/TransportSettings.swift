// The limits and time-outs of the HTTP transport. Each bounds what a client can make the server hold; none is optional.

/// Where the server listens, and every limit of a connection and of a request.
///
/// Time-outs are checked by a sweep over the connections about once a second, so each ends between its value and two
/// seconds later.
package struct TransportSettings: Sendable {
    /// A name or an address to bind; `0.0.0.0` or `::` for all.
    package var host = "127.0.0.1"
    /// 0 takes any free port.
    package var port = 8080
    /// Event loops, where the server makes its own group.
    package var threadCount = 2
    /// Open connections. For one more the longest idle one is closed; without one it is answered 503.
    package var connectionCountMax = 20_000
    /// How many of them, in per cent, one client address may have once the node is nearly full; 100: all.
    package var addressSharePercent = 25
    /// Whose connections count for nobody's share.
    package var trustedProxies = TrustedProxies()
    /// Request line and headers together.
    package var headerByteCountMax = 32 * 1024
    /// The target in the request line alone: 414. One over `headerByteCountMax` can't be told from other headers: 431.
    package var targetByteCountMax = 16 * 1024
    package var headerCountMax = 100
    /// The largest body of any request. What a single one may have is the handler's decision.
    package var bodyByteCountMax = 1024 * 1024
    /// What the bodies of all requests that are coming, or are being answered, may take together. Past it the largest
    /// incomplete one is refused. Each event loop has the same part of it.
    package var incomingTotalByteCountMax = 256 * 1024 * 1024
    /// A body from which on it counts in that total until its request is answered.
    package var countedBodyByteCountMin = 16 * 1024
    /// The largest body that is read and dropped after its request was answered without it, to keep the connection.
    package var droppedBodyByteCountMax = 64 * 1024
    /// From the connection's opening, or the first bytes of a later request, to the end of the headers.
    package var headerTimeout = Duration.seconds(10)
    /// From the end of the headers to the end of the body.
    package var bodyTimeout = Duration.seconds(30)
    /// A kept-alive connection without a request.
    package var idleTimeout = Duration.seconds(75)
    /// The longest that a client may take none of the bytes that wait for it.
    package var writeTimeout = Duration.seconds(30)
    /// The longest that bytes in the kernel's hands may stay unacknowledged, or find no room at the client's
    /// (`TCP_USER_TIMEOUT`): who vanished without a word is noticed by this, and by nothing else where little is sent, as
    /// on a quiet stream. Longer than `writeTimeout`, so that a slow reader of much is cut, and counted, by that.
    package var acknowledgementTimeout = Duration.seconds(40)
    /// After an answer that closes: how long to go on discarding what the client still sends, so that the kernel does
    /// not reset the connection before the client has read the answer (RFC 9112, 9.6).
    package var lingerTimeout = Duration.seconds(2)
    /// How long an ordinary request may still be answered after its client has closed its sending side. See ``Reply``.
    package var halfCloseGrace = Duration.seconds(2)
    /// Requests, and bytes of their bodies, received behind one that waits for its answer; past either reading pauses.
    /// Requests on one connection are handled one after the other. A client that sends 32 times as many is cut off.
    package var pipelinedRequestCountMax = 8
    package var pipelinedByteCountMax = 64 * 1024

    /// What may wait for a client to take it on a stream whose writer doesn't wait itself.
    package var unsentByteCountMax = 1024 * 1024
    /// What may wait for all clients together. Past it those that take nothing are cut by the sweep, the largest first,
    /// long before their `writeTimeout`.
    package var unsentTotalByteCountMax = 256 * 1024 * 1024
    /// How long a drain waits, after its deadline, for the tasks that it has cancelled.
    package var cancellationGrace = Duration.seconds(1)

    /// The server's own TLS; nil: none, as behind a proxy that has it.
    package var tls: TLSIdentity?
    /// Which web pages of other origins may read the answers; nil: none.
    package var crossOrigin: CrossOriginPolicy?

    package init() {}

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// How many connections one client address may have once the node is nearly full.
    var addressConnectionCountMax: Int { max(1, connectionCountMax * addressSharePercent / 100) }

    /// The last ones, for addresses below their share.
    var reservedConnectionCount: Int { addressSharePercent < 100 ? connectionCountMax / 8 : 0 }

    /// Often enough for the shortest time-out, and never more than once in 10 ms: it goes over every connection's time.
    var sweepInterval: Duration {
        let timeouts = [headerTimeout, bodyTimeout, idleTimeout, writeTimeout, lingerTimeout, halfCloseGrace]
        let shortest = timeouts.min() ?? .seconds(4)
        return max(.milliseconds(10), min(.seconds(1), shortest / 2))
    }
}
