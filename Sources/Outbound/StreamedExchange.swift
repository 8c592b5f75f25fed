// Requests whose bodies are streamed: values, without libcurl.

/// A request to a web server that the operator configured, with bodies of any size. Over HTTP/1.1: in HTTP/2 libcurl
/// 7.88 lets a server send 32 MiB to a stream that is paused. Redirects are never followed.
package struct StreamedExchange: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// The slowest transfer that is accepted. Time in which this side keeps the transfer waiting does not count.
    package struct Pace: Sendable {
        /// A transfer that moves fewer bytes within `window` is cancelled. So is one whose server answers nothing for
        /// that time after the request.
        package var byteCountMin = 64 << 10
        package var window = Duration.seconds(30)
    }

    package var method: Method
    package var url: String
    /// Names in lower case.
    package var headers: [(name: String, value: String)]
    /// The length of the request's body. Only a PUT has one.
    package var bodyByteCount = 0
    /// The body of an answer with this status is streamed. Any other answer's body is returned whole. Nil: none is
    /// streamed.
    package var streamedStatus: Int?
    /// A longer answer body that is not streamed fails the exchange.
    package var answerByteCountMax = 64 << 10
    package var pace = Pace()

    package init(_ method: Method, url: String, headers: [(name: String, value: String)] = []) {
        self.method = method
        self.url = url
        self.headers = headers
    }
}

extension Outbound {
    /// Performs a request and streams its bodies: at most 512 KiB are in memory.
    ///
    /// The transfer ends with the calling task: when that is cancelled, or a closure throws, the connection is closed.
    ///
    /// - Parameters:
    ///   - queuedMax: the longest wait for other transfers to end.
    ///   - body: returns the next piece of the request's body, at most 256 KiB. Called only while the server reads, not
    ///     after it has answered, and not after the last byte. Nil ends the body too early: the transfer fails.
    ///   - receive: is called with the pieces of an answer that is streamed, at most 256 KiB each. While it runs, the
    ///     transfer pauses.
    /// - Returns: the answer, whatever its status. A streamed body is not in it.
    package func perform(
        _ exchange: StreamedExchange, queuedMax: Duration = .seconds(10), body: () async throws -> [UInt8]? = { nil },
        receive: ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> TransferAnswer {
        let stream = TransferStream { [weak self] in self?.attend($0) }
        var transfer = Transfer(.stream(exchange, stream))
        transfer.timeMax = queuedMax
        return try await withTaskCancellationHandler {
            begin([Job(transfer) { stream.end($0) }])
            do {
                try await send(body, byteCount: exchange.bodyByteCount, to: stream)
                while let piece = try await stream.nextPiece() { try await receive(piece) }
            } catch {
                stream.cancel()
                throw error
            }
            return try await stream.result()
        } onCancel: {
            stream.cancel()
        }
    }

    /// Asks for pieces until all bytes are there, or the server has answered.
    private func send(
        _ body: () async throws -> [UInt8]?, byteCount: Int, to stream: TransferStream
    ) async throws {
        var leftCount = byteCount
        while leftCount > 0, try await stream.hasRoom() {
            guard let piece = try await body() else { break }
            leftCount -= piece.count
            stream.append(piece)
        }
        stream.finishBody()
    }
}
