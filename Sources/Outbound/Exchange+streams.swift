// Streamed bodies in libcurl: the options, the callbacks that pause a transfer, and the slowest accepted pace.
import CLibcurl

/// Measures whether a transfer keeps the slowest accepted pace.
struct PaceMeter {
    let pace: StreamedExchange.Pace
    private var movedByteCount = 0

    init(_ pace: StreamedExchange.Pace) { self.pace = pace }

    /// Returns whether enough has moved for another window to begin.
    mutating func moved(_ byteCount: Int) -> Bool {
        movedByteCount += byteCount
        guard movedByteCount >= pace.byteCountMin else { return false }
        movedByteCount = 0
        return true
    }
}

extension Exchange {
    /// Object stores close idle connections sooner than push services do.
    private static let idleStreamSecondsMax = 15
    private static let bufferByteCount = 64 << 10
    /// The deadline while this side keeps the transfer waiting: its task decides then.
    private static let pausedMax = Duration.seconds(86_400)

    func setUp(_ exchange: StreamedExchange, _ stream: TransferStream, _ connections: OpenConnections) {
        http = HTTPState(
            origin: HTTPExchange.origin(of: exchange.url),
            answer: AnswerReader(bodyByteCountMax: exchange.answerByteCountMax),
            needsStatusOnly: false, connections: connections, isGuarded: false, stream: stream,
            meter: PaceMeter(exchange.pace), streamedStatus: exchange.streamedStatus)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_HTTP_VERSION, parley_curl_http_1_1)
        set(CURLOPT_MAXAGE_CONN, Self.idleStreamSecondsMax)
        set(CURLOPT_BUFFERSIZE, Self.bufferByteCount)
        set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferByteCount)
        setUpConnections(connections)
        setContext()
        set(CURLOPT_URL, exchange.url)
        switch exchange.method {
        case .get: set(CURLOPT_HTTPGET, 1)
        case .head: set(CURLOPT_NOBODY, 1)
        case .delete: set(CURLOPT_CUSTOMREQUEST, exchange.method.rawValue)
        case .put:
            set(CURLOPT_UPLOAD, 1)
            set(parley_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(exchange.bodyByteCount)))
            set(CURLOPT_READDATA, pointer: context)
            set(parley_curl_set_io(easy, CURLOPT_READFUNCTION, readBody))
        }
        setHeaders(exchange.headers)
        beginWindow()
    }

    /// Continues a paused transfer.
    func resume() {
        beginWindow()
        curl_easy_pause(easy, CURLPAUSE_CONT)
    }

    private func beginWindow() {
        guard let pace = http?.meter?.pace else { return }
        http?.meter = PaceMeter(pace)
        deadline = .now + pace.window
    }

    private func pause() { deadline = .now + Self.pausedMax }

    private func moved(_ byteCount: Int) {
        if let pace = http?.meter?.pace, http?.meter?.moved(byteCount) == true { deadline = .now + pace.window }
    }

    /// Passes a part of the answer's body to the task.
    func deliver(_ part: UnsafeRawBufferPointer) -> Int {
        guard http?.stream?.write(part) == true else {
            pause()
            return Int(parley_curl_write_pause)
        }
        moved(part.count)
        return part.count
    }

    /// Copies the next part of the request's body.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch http?.stream?.read(into: buffer) {
        case .copied(let count):
            moved(count)
            return count
        case .pause:
            pause()
            return Int(parley_curl_read_pause)
        case .abort, nil:
            http?.objection = .failed(reason: "the request's body ended early")
            return Int(parley_curl_read_abort)
        }
    }
}

private func readBody(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    exchange(context)?.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count)) ?? 0
}
