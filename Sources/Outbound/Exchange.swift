// One transfer in libcurl: its options, the bytes to send, its result. Exchange+HTTP.swift has what only HTTP needs,
// Exchange+streams.swift what only streamed bodies need.
import CLibcurl

/// The object behind libcurl's easy handle while a transfer is under way. Used by one thread.
final class Exchange {
    /// A connection that has been idle for longer is not reused: relays close theirs after minutes.
    private static let idleSecondsMax = 20

    /// When the transfer is cancelled. A mail is cancelled by the progress callback, after which libcurl cuts the
    /// connection. libcurl's own timeout would send QUIT to a relay that no longer answers, and would block all
    /// transfers while it waits. Removing the handle in the middle of a mail would end the mail there. HTTP's handles
    /// are removed.
    var deadline: ContinuousClock.Instant
    let easy: UnsafeMutableRawPointer
    /// It is nil for mail.
    var http: HTTPState?
    private var content: [UInt8] = []
    private var sentCount = 0
    private var isGivenUp = false
    private let errorText: UnsafeMutablePointer<CChar>
    /// A mail's recipients, or a request's headers.
    private var list: UnsafeMutablePointer<curl_slist>?
    /// False if libcurl refused one of the options.
    private(set) var isReady = true

    /// - Parameter isNew: whether the handle is new. A used handle had a transfer of the same kind (`isGuarded`), so
    ///   only the options of this transfer are set. Setting all of them takes several times as long.
    init(
        _ easy: UnsafeMutableRawPointer, isNew: Bool, _ transfer: Transfer, deadline: ContinuousClock.Instant,
        settings: ClientSettings, connections: OpenConnections
    ) {
        self.easy = easy
        self.deadline = deadline
        errorText = .allocate(capacity: parley_curl_error_size)
        errorText.initialize(repeating: 0, count: parley_curl_error_size)
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(transfer.connectMax / .milliseconds(1))))
        // Longer than the deadline, which decides.
        set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(transfer.timeMax / .seconds(1)) + 2)
        if isNew { setUp(settings) }
        switch transfer.work {
        case .mail(let mail): setUp(mail)
        case .http(let exchange): setUp(exchange, isNew: isNew, settings: settings, connections: connections)
        case .stream(let exchange, let stream): setUp(exchange, stream, connections)
        }
    }

    /// The pointer that libcurl's callbacks get.
    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    deinit {
        errorText.deallocate()
        curl_slist_free_all(list)
    }

    private func setUp(_ settings: ClientSettings) {
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The system's certificate directory stays in use: it is another option.
        if let caFile = settings.caFile { set(CURLOPT_CAINFO, caFile) }
        // Ignores the environment's proxies: the address behind a proxy could not be checked.
        set(CURLOPT_PROXY, "")
    }

    private func setUp(_ mail: MailDelivery) {
        let relay = mail.relay
        content = mail.content
        set(CURLOPT_URL, relay.url)
        set(CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        set(CURLOPT_MAXAGE_CONN, Self.idleSecondsMax)
        set(CURLOPT_NOPROGRESS, 0)
        set(CURLOPT_XFERINFODATA, pointer: context)
        set(parley_curl_set_progress(easy, checkProgress))
        set(CURLOPT_READDATA, pointer: context)
        set(parley_curl_set_io(easy, CURLOPT_READFUNCTION, readContent))
        // Without this callback libcurl would print the answer.
        set(parley_curl_set_io(easy, CURLOPT_WRITEFUNCTION, dropAnswer))
        let usesTLS =
            switch relay.security {
            case .tls, .startTLS: CURLUSESSL_ALL
            case .startTLSIfOffered: CURLUSESSL_TRY
            case .none: CURLUSESSL_NONE
            }
        set(CURLOPT_USE_SSL, Int(usesTLS.rawValue))
        if let user = relay.user { set(CURLOPT_USERNAME, user) }
        if let password = relay.password { set(CURLOPT_PASSWORD, password) }
        set(CURLOPT_MAIL_FROM, "<\(mail.sender)>")
        append("<\(mail.recipient)>")
        setList(CURLOPT_MAIL_RCPT)
        set(CURLOPT_UPLOAD, 1)
        set(parley_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(content.count)))
    }

    /// Returns the transfer's result for libcurl's code.
    func result(_ code: CURLcode) -> Result<TransferAnswer, TransferFailure> {
        let status = parley_curl_status(easy)
        if code == CURLE_OK {
            let answer = http?.answer
            return .success(
                TransferAnswer(status: status, headers: answer?.headers ?? [:], body: answer?.body ?? []))
        }
        if let answer = sufficientAnswer { return .success(answer) }
        if let objection = http?.objection { return .failure(objection) }
        if code == CURLE_ABORTED_BY_CALLBACK { return .failure(isGivenUp ? .closed : .timedOut) }
        if code == CURLE_OPERATION_TIMEDOUT { return .failure(.timedOut) }
        let text = String(cString: errorText)
        let reason = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        if http != nil {
            return .failure(code == CURLE_UNSUPPORTED_PROTOCOL ? .forbidden(reason: reason) : .failed(reason: reason))
        }
        // A relay may refuse a sender, a recipient or a content. libcurl reports the first two as errors of sending. A
        // refusal of greeting, STARTTLS or password is not about the mail.
        let isAboutMail = code == CURLE_SEND_ERROR || sentCount == content.count
        guard isAboutMail, (400..<600).contains(status) else { return .failure(.failed(reason: reason)) }
        return .failure(.refused(status: status, reason: reason))
    }

    /// Brings the deadline forward.
    func hurry(_ time: Duration) { deadline = min(deadline, .now + time) }

    /// Makes libcurl cancel the transfer at its next progress callback.
    func giveUp() { isGivenUp = true }

    fileprivate var goesOn: Bool { !isGivenUp && deadline > .now }

    /// Copies the next part of the content into `buffer`.
    fileprivate func read(into buffer: UnsafeMutablePointer<CChar>, countMax: Int) -> Int {
        let part = content[sentCount...].prefix(countMax)
        UnsafeMutableRawBufferPointer(start: buffer, count: countMax).copyBytes(from: part)
        sentCount += part.count
        return part.count
    }

    /// Adds a line to the list for libcurl.
    func append(_ line: String) {
        guard let longer = curl_slist_append(list, line) else { return isReady = false }
        list = longer
    }

    /// Marks the transfer as one that can't begin.
    func refuse() { isReady = false }

    func set(_ code: CURLcode) { if code != CURLE_OK { isReady = false } }
    func set(_ option: CURLoption, _ value: Int) { set(parley_curl_set_number(easy, option, value)) }
    func set(_ option: CURLoption, _ value: String) { set(parley_curl_set_text(easy, option, value)) }
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) {
        set(parley_curl_set_pointer(easy, option, pointer))
    }
    func setList(_ option: CURLoption) { set(parley_curl_set_list(easy, option, list)) }
}

private func readContent(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let buffer, let context else { return 0 }
    return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().read(into: buffer, countMax: size * count)
}

private func dropAnswer(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int { size * count }

/// Returns 0 to continue. Any other value makes libcurl cancel the transfer.
private func checkProgress(
    _ context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, _: curl_off_t
) -> Int32 {
    guard let context else { return 0 }
    return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().goesOn ? 0 : 1
}
