// The HTTP part of a transfer: its options, its address check, its answer.
import Basics
import CLibcurl
import Glibc

/// The state of an HTTP exchange.
struct HTTPState {
    let began = ContinuousClock.now
    let origin: String
    var answer: AnswerReader
    let needsStatusOnly: Bool
    let connections: OpenConnections
    /// Whether only public addresses are allowed.
    let isGuarded: Bool
    /// The local port of its connection; nil before it has one.
    var localPort: Int?
    /// Why this side cancelled the exchange.
    var objection: TransferFailure?
    /// Only a streamed exchange has one.
    var stream: TransferStream?
    var meter: PaceMeter?
    var streamedStatus: Int?
}

extension HTTPExchange {
    func isGuarded(by settings: ClientSettings) -> Bool { reach == .publicOnly && !settings.allowPrivate }
}

extension Transfer {
    /// Returns nil for a transfer whose handle is not used again.
    func isGuarded(by settings: ClientSettings) -> Bool? {
        if case .http(let exchange) = work { exchange.isGuarded(by: settings) } else { nil }
    }
}

extension Exchange {
    /// A connection that has been idle for longer is not reused. Apple wants connections to be kept.
    private static let idleConnectionSecondsMax = 240
    private static let keepAliveSeconds = 60
    /// The smallest buffer that libcurl accepts. Each transfer has one. The default is 64 KiB; requests have one or
    /// two.
    private static let uploadBufferByteCount = 16 << 10
    /// How long libcurl may take to end a transfer after the answer's last byte.
    private static let wholeAnswerMax = Duration.milliseconds(200)

    func setUp(
        _ exchange: HTTPExchange, isNew: Bool, settings: ClientSettings, connections: OpenConnections
    ) {
        let isGuarded = exchange.isGuarded(by: settings)
        http = HTTPState(
            origin: exchange.origin, answer: AnswerReader(bodyByteCountMax: exchange.answerByteCountMax),
            needsStatusOnly: exchange.needsStatusOnly, connections: connections, isGuarded: isGuarded)
        if isNew {
            set(CURLOPT_PROTOCOLS_STR, isGuarded ? "https" : "http,https")
            set(CURLOPT_HTTP_VERSION, parley_curl_http_2)
            // Waits for a connection that is being made instead of making another one.
            set(CURLOPT_PIPEWAIT, 1)
            set(CURLOPT_MAXAGE_CONN, Self.idleConnectionSecondsMax)
            set(CURLOPT_UPLOAD_BUFFERSIZE, Self.uploadBufferByteCount)
            setUpConnections(connections)
        }
        setContext()
        setRequest(exchange)
    }

    private func setRequest(_ exchange: HTTPExchange) {
        set(CURLOPT_URL, exchange.url)
        set(CURLOPT_POST, 1)
        set(parley_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(exchange.body.count)))
        var body = exchange.body
        // Copied: libcurl may send it again.
        body.withUnsafeMutableBytes { bytes in
            // An empty body has no pointer, and without a pointer libcurl would ask for data.
            if let start = bytes.baseAddress { set(CURLOPT_COPYPOSTFIELDS, pointer: start) }
        }
        if exchange.body.isEmpty { set(CURLOPT_COPYPOSTFIELDS, "") }
        setHeaders(exchange.headers)
    }

    func setHeaders(_ headers: [(name: String, value: String)]) {
        // Removes the headers that libcurl would add by itself.
        append("expect:")
        if !headers.contains(where: { $0.name == "content-type" }) { append("content-type:") }
        for (name, value) in headers {
            guard Self.isLine(name), Self.isLine(value) else { return refuse() }
            append(value.isEmpty ? name + ";" : name + ": " + value)
        }
        setList(CURLOPT_HTTPHEADER)
    }

    /// Whether the text contains nothing that would end the line.
    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }

    func setUpConnections(_ connections: OpenConnections) {
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, Self.keepAliveSeconds)
        set(CURLOPT_TCP_KEEPINTVL, Self.keepAliveSeconds)
        set(parley_curl_set_io(easy, CURLOPT_HEADERFUNCTION, takeHeader))
        set(parley_curl_set_io(easy, CURLOPT_WRITEFUNCTION, takeBody))
        set(parley_curl_set_open_socket(easy, openSocket))
        // A connection outlives the transfer that made it.
        set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(connections).toOpaque())
        set(parley_curl_set_close_socket(easy, closeSocket))
        set(parley_curl_set_before_request(easy, checkConnection))
    }

    func setContext() {
        set(CURLOPT_HEADERDATA, pointer: context)
        set(CURLOPT_WRITEDATA, pointer: context)
        set(CURLOPT_OPENSOCKETDATA, pointer: context)
        set(CURLOPT_PREREQDATA, pointer: context)
    }

    /// The answer, if enough of it has arrived although libcurl reports no success. A server that answers before it has
    /// read the request closes the stream: libcurl fails to send the rest, or waits forever to send it. Another
    /// transfer may have caused a reset of the connection before the end of this answer was read.
    var sufficientAnswer: TransferAnswer? {
        let status = parley_curl_status(easy)
        guard let http, status >= 200 else { return nil }
        let answer = http.answer
        guard answer.isWhole || http.needsStatusOnly && status < 300 && answer.isHeaded else { return nil }
        return TransferAnswer(status: status, headers: answer.headers, body: answer.body)
    }

    /// Whether the server has sent anything.
    var hasReceived: Bool { parley_curl_status(easy) != 0 }

    fileprivate func take(header line: UnsafeRawBufferPointer) -> Bool {
        http?.answer.takeHeader(line)
        return goesOnReading
    }

    /// Returns what libcurl's callback returns: the count of bytes taken, or that the transfer fails or pauses.
    fileprivate func take(body part: UnsafeRawBufferPointer) -> Int {
        if http?.streamedStatus == parley_curl_status(easy) { return deliver(part) }
        http?.answer.takeBody(part)
        return goesOnReading ? part.count : 0
    }

    private var goesOnReading: Bool {
        if http?.answer.isWhole == true { hurry(Self.wholeAnswerMax) }
        guard http?.answer.isTooLarge == true else { return true }
        http?.objection = .failed(reason: "the answer is too large")
        return false
    }

    /// Returns -1 for an address that is not allowed.
    fileprivate func open(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
        guard let http, isAllowed(parley_curl_address(address).flatMap { IPAddress($0) }) else { return -1 }
        let (family, type) = (address.pointee.family, address.pointee.socktype)
        return http.connections.open(
            to: http.origin, family: family, type: type, protocol: address.pointee.protocol,
            isStreamed: http.stream != nil)
    }

    /// Checks a reused connection: it may have been made for a transfer with a wider reach.
    fileprivate func mayUse(remote: IPAddress?, localPort: Int) -> Bool {
        http?.localPort = localPort
        return isAllowed(remote)
    }

    private func isAllowed(_ address: IPAddress?) -> Bool {
        if http?.isGuarded == false || address?.isPublic == true { return true }
        http?.objection = .forbidden(reason: "its address is not a public one")
        return false
    }
}

func exchange(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
}

private func takeHeader(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return exchange(context)?.take(header: line) == true ? line.count : 0
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return exchange(context)?.take(body: part) ?? 0
}

private func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let address else { return -1 }
    return exchange(context)?.open(address) ?? -1
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    guard let context else { return -1 }
    return Unmanaged<OpenConnections>.fromOpaque(context).takeUnretainedValue().close(socket)
}

/// Returns 0 to continue. Any other value makes libcurl cancel the transfer.
private func checkConnection(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?,
    _: Int32,
    _ localPort: Int32
) -> Int32 {
    let address = remote.flatMap { IPAddress(parsing: String(cString: $0).prefix { $0 != "%" }) }
    return exchange(context)?.mayUse(remote: address, localPort: Int(localPort)) == true ? 0 : 1
}
