// One transfer as libcurl has it: its options, the bytes to send, what came of it.
import CLibcurl

/// What libcurl's easy handle points to while a transfer is under way. Used by one thread.
final class Exchange {
    /// For one answer of a relay.
    private static let replySecondsMax = 10
    /// A connection that has been idle for longer isn't used again: relays close theirs after minutes.
    private static let idleSecondsMax = 20

    private let easy: UnsafeMutableRawPointer
    private let content: [UInt8]
    private var sentCount = 0
    private let errorText: UnsafeMutablePointer<CChar>
    private var recipients: UnsafeMutablePointer<curl_slist>?
    /// False when libcurl refused one of the options.
    private(set) var isReady = true

    /// Takes a handle that was reset, and sets it up.
    init(_ easy: UnsafeMutableRawPointer, _ transfer: Transfer, timeMax: Duration, caFile: String?) {
        self.easy = easy
        errorText = .allocate(capacity: parley_curl_error_size)
        errorText.initialize(repeating: 0, count: parley_curl_error_size)
        switch transfer.work {
        case .mail(let mail): content = mail.content
        }
        set(CURLOPT_ERRORBUFFER, pointer: errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(transfer.connectMax / .milliseconds(1))))
        set(CURLOPT_TIMEOUT_MS, max(1, Int(timeMax / .milliseconds(1))))
        set(CURLOPT_MAXAGE_CONN, Self.idleSecondsMax)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // The system's directory of certificates stays beside it: that is another option.
        if let caFile { set(CURLOPT_CAINFO, caFile) }
        let context = Unmanaged.passUnretained(self).toOpaque()
        set(CURLOPT_READDATA, pointer: context)
        set(parley_curl_set_io(easy, CURLOPT_READFUNCTION, readContent))
        // Without it libcurl would print what comes.
        set(parley_curl_set_io(easy, CURLOPT_WRITEFUNCTION, dropAnswer))
        switch transfer.work {
        case .mail(let mail): setUp(mail)
        }
    }

    deinit {
        errorText.deallocate()
        curl_slist_free_all(recipients)
    }

    private func setUp(_ mail: MailDelivery) {
        let relay = mail.relay
        set(CURLOPT_URL, relay.url)
        set(CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        // What the environment says of proxies is said of the web.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Self.replySecondsMax)
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
        recipients = curl_slist_append(nil, "<\(mail.recipient)>")
        if recipients == nil { isReady = false }
        set(parley_curl_set_list(easy, CURLOPT_MAIL_RCPT, recipients))
        set(CURLOPT_UPLOAD, 1)
        set(parley_curl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(content.count)))
    }

    /// What came of it, by libcurl's word.
    func result(_ code: CURLcode) -> Result<TransferAnswer, TransferFailure> {
        let status = parley_curl_status(easy)
        if code == CURLE_OK { return .success(TransferAnswer(status: status)) }
        if code == CURLE_OPERATION_TIMEDOUT { return .failure(.timedOut) }
        let text = String(cString: errorText)
        let reason = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        // A relay says no to a sender, a recipient or a content, of which libcurl says the first two are errors of sending.
        // A no to greeting, STARTTLS or password says nothing of the mail.
        let isAboutMail = code == CURLE_SEND_ERROR || sentCount == content.count
        guard isAboutMail, (400..<600).contains(status) else { return .failure(.failed(reason: reason)) }
        return .failure(.refused(status: status, reason: reason))
    }

    /// Hands on the next part of the content.
    fileprivate func read(into buffer: UnsafeMutablePointer<CChar>, countMax: Int) -> Int {
        let part = content[sentCount...].prefix(countMax)
        UnsafeMutableRawBufferPointer(start: buffer, count: countMax).copyBytes(from: part)
        sentCount += part.count
        return part.count
    }

    private func set(_ code: CURLcode) { if code != CURLE_OK { isReady = false } }
    private func set(_ option: CURLoption, _ value: Int) { set(parley_curl_set_number(easy, option, value)) }
    private func set(_ option: CURLoption, _ value: String) { set(parley_curl_set_text(easy, option, value)) }
    private func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) {
        set(parley_curl_set_pointer(easy, option, pointer))
    }
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
