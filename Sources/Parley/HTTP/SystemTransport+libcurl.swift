// The transport of programs on Linux. Linux's URLSession ends the process when a connection closes inside the head of an
// answer (Swift 6.3.1: "Transfer completed, but there's no response"), and connections do that.
#if os(Linux)
    import CLibcurl
    import Foundation

    /// Sends requests with libcurl, without cookies, caches and redirects. On Apple's systems the same type uses URLSession.
    public struct SystemTransport: HTTPTransport {
        private let handles = CurlHandles()

        /// Makes a transport with connections of its own.
        public init() {}

        public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            let transfer = CurlTransfer(request)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard transfer.begin(continuation) else { return }
                    // A transfer blocks its thread, so it has one of its own: tasks never wait for the network's.
                    Thread.detachNewThread { [handles] in transfer.run(handles) }
                }
            } onCancel: {
                transfer.cancel()
            }
        }
    }

    /// Handles that are not in use, with their connections.
    private final class CurlHandles: Sendable {
        private let idle = Locked<[CurlHandle]>([])
        private static let idleMax = 8

        private static let isLibraryReady = curl_global_init(parley_curl_global) == CURLE_OK

        func take() -> CurlHandle? {
            guard Self.isLibraryReady else { return nil }
            return idle.withLock { $0.popLast() } ?? curl_easy_init().map { CurlHandle(easy: $0) }
        }

        func put(_ handle: CurlHandle) {
            curl_easy_reset(handle.easy)  // Connections stay.
            idle.withLock { if $0.count < Self.idleMax { $0.append(handle) } }
        }
    }

    private final class CurlHandle: @unchecked Sendable {
        // SAFETY: a handle is used by one thread at a time, the one that took it.
        let easy: UnsafeMutableRawPointer

        init(easy: UnsafeMutableRawPointer) { self.easy = easy }

        deinit { curl_easy_cleanup(easy) }
    }

    /// One request and its answer.
    private final class CurlTransfer: @unchecked Sendable {
        private struct State {
            var continuation: CheckedContinuation<HTTPResponse, any Error>?
            var isCancelled = false
        }

        private let request: HTTPRequest
        private let state = Locked(State())
        // SAFETY: only the thread of the transfer reads and writes these.
        private var headers: [String: String] = [:]
        private var isHeadComplete = false
        private var body = Data()

        init(_ request: HTTPRequest) { self.request = request }

        /// Returns false if the task was cancelled before.
        func begin(_ continuation: CheckedContinuation<HTTPResponse, any Error>) -> Bool {
            let isCancelled = state.withLock { state in
                if !state.isCancelled { state.continuation = continuation }
                return state.isCancelled
            }
            if isCancelled { continuation.resume(throwing: CancellationError()) }
            return !isCancelled
        }

        /// Answers the task at once. The thread notices within a second.
        func cancel() {
            state.withLock { $0.isCancelled = true }
            finish(.failure(CancellationError()))
        }

        func run(_ handles: CurlHandles) {
            guard let handle = handles.take() else {
                return finish(.failure(ParleyError.noAnswer("libcurl cannot be used")))
            }
            let result = perform(handle.easy)
            handles.put(handle)
            finish(result)
        }

        private func finish(_ result: Result<HTTPResponse, any Error>) {
            let continuation = state.withLock { state in
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume(with: result)
        }

        private func perform(_ easy: UnsafeMutableRawPointer) -> Result<HTTPResponse, any Error> {
            var list: UnsafeMutablePointer<curl_slist>?
            defer { curl_slist_free_all(list) }
            // Headers that libcurl would add by itself are removed by a name without a value.
            let own = ["Expect:"] + (request.headers["content-type"] == nil ? ["Content-Type:"] : [])
            for line in own + request.headers.map({ "\($0.key): \($0.value)" }) { list = curl_slist_append(list, line) }
            set(easy, list)
            let bytes = request.body ?? Data()
            let code = bytes.withUnsafeBytes { bytes in
                if request.body != nil || !["GET", "HEAD"].contains(request.method) {
                    _ = parley_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
                    let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                    _ =
                        start.map { parley_curl_set_pointer(easy, CURLOPT_POSTFIELDS, $0) }
                        ?? parley_curl_set_text(easy, CURLOPT_POSTFIELDS, "")
                }
                _ = parley_curl_set_number(easy, CURLOPT_NOBODY, request.method == "HEAD" ? 1 : 0)
                if request.method != "HEAD" { _ = parley_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method) }
                return curl_easy_perform(easy)
            }
            guard code == CURLE_OK else {
                return .failure(CurlError(code: Int32(bitPattern: code.rawValue)).asNoAnswer)
            }
            // libcurl takes a head that was cut off for the whole one.
            guard isHeadComplete else {
                return .failure(ParleyError.noAnswer("the connection closed inside an answer"))
            }
            return .success(HTTPResponse(status: parley_curl_status(easy), headers: headers, body: body))
        }

        private func set(_ easy: UnsafeMutableRawPointer, _ list: UnsafeMutablePointer<curl_slist>?) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            let seconds = max(1, Int(request.timeout.components.seconds))
            _ = parley_curl_set_text(easy, CURLOPT_URL, request.url.absoluteString)
            _ = parley_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
            _ = parley_curl_set_number(easy, CURLOPT_NOSIGNAL, 1)
            _ = parley_curl_set_number(easy, CURLOPT_CONNECTTIMEOUT, min(seconds, 15))
            // A transfer may take long, but not stop.
            _ = parley_curl_set_number(easy, CURLOPT_LOW_SPEED_LIMIT, 1)
            _ = parley_curl_set_number(easy, CURLOPT_LOW_SPEED_TIME, seconds)
            _ = parley_curl_set_list(easy, CURLOPT_HTTPHEADER, list)
            _ = parley_curl_set_number(easy, CURLOPT_NOPROGRESS, 0)
            _ = parley_curl_set_pointer(easy, CURLOPT_XFERINFODATA, context)
            _ = parley_curl_set_progress(easy) { context, _, _, _, _ in
                CurlTransfer.of(context)?.state.withLock { $0.isCancelled } == true ? 1 : 0
            }
            _ = parley_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)
            _ = parley_curl_set_io(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                guard let bytes, let transfer = CurlTransfer.of(context) else { return 0 }
                transfer.body.append(UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: size * count)
                return size * count
            }
            _ = parley_curl_set_pointer(easy, CURLOPT_HEADERDATA, context)
            _ = parley_curl_set_io(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                guard let bytes, let transfer = CurlTransfer.of(context) else { return 0 }
                transfer.read(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
                return size * count
            }
        }

        private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
            context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
        }

        /// A line of the head. An interim answer comes before the answer.
        private func read(header line: UnsafeRawBufferPointer) {
            let text = String(decoding: line, as: UTF8.self)
            isHeadComplete = text == "\r\n"
            if text.hasPrefix("HTTP/") { return headers = [:] }
            guard let colon = text.firstIndex(of: ":") else { return }
            let name = text[..<colon].lowercased()
            guard headers[name] == nil else { return }
            headers[name] = text[text.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// What libcurl reports when no answer arrived: the `cause` of `noAnswer` on Linux.
    public struct CurlError: Error, Hashable, CustomStringConvertible {
        /// libcurl's number (`CURLcode`), for example 60 for a certificate that is not trusted.
        public let code: Int32

        /// libcurl's English words for the number.
        public var description: String { String(cString: curl_easy_strerror(CURLcode(UInt32(bitPattern: code)))) }

        fileprivate var asNoAnswer: ParleyError { .noAnswer(description, cause: self) }
    }
#endif
