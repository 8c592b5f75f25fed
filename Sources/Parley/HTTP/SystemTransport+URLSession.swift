// The transport of apps on Apple's systems.
#if canImport(Darwin)
    import Foundation

    /// Sends requests with URLSession, without cookies, caches and redirects. On Linux the same type uses libcurl.
    public struct SystemTransport: HTTPTransport {
        private let session: URLSession

        /// Makes a transport with connections of its own.
        public init() {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            // A long poll keeps one connection, and calls must not wait for it.
            configuration.httpMaximumConnectionsPerHost = 6
            session = URLSession(configuration: configuration, delegate: RedirectRefusal(), delegateQueue: nil)
        }

        public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            var outgoing = URLRequest(url: request.url)
            outgoing.httpMethod = request.method
            outgoing.timeoutInterval = Double(request.timeout.components.seconds)
            outgoing.httpBody = request.body
            for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }
            let body: Data
            let answer: URLResponse
            do {
                (body, answer) = try await session.data(for: outgoing)
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw ParleyError.noAnswer(error.localizedDescription, cause: error)
            }
            guard let answer = answer as? HTTPURLResponse else { throw ParleyError.noAnswer("the answer is not HTTP") }
            let headers = answer.allHeaderFields.map { ("\($0.key)".lowercased(), "\($0.value)") }
            return HTTPResponse(
                status: answer.statusCode, headers: Dictionary(headers) { first, _ in first }, body: body)
        }
    }

    /// A redirect could carry the token to another host.
    private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse,
            newRequest _: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
#endif
