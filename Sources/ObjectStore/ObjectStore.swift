// Objects in a bucket of an S3-compatible store: write, read, delete, and URLs for clients.
import Basics
import Cryptography
import FoundationEssentials
import Outbound

/// Where the bucket is, and the credentials for it. Contains a secret: never print it.
package struct ObjectStoreSettings: Sendable {
    /// Scheme, host and port, without a slash at its end.
    package var endpoint: String
    package var bucket: String
    package var region: String
    package var accessKey: String
    package var secretKey: String
    /// Whether the bucket's name is in the path. Otherwise it is a part of the host name.
    package var usesPathStyle: Bool

    package init(
        endpoint: String, bucket: String, region: String, accessKey: String, secretKey: String,
        usesPathStyle: Bool = true
    ) {
        self.endpoint = endpoint
        self.bucket = bucket
        self.region = region
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.usesPathStyle = usesPathStyle
    }
}

/// One bucket. Every call is one request: retries are the callers'. All calls throw `ObjectStoreError`,
/// `CancellationError`, or what the caller's closure throws.
package struct ObjectStore: Sendable {
    /// Headers that the store sends to a client that was redirected to it.
    package struct AnswerHeaders: Sendable {
        package var contentType: String?
        package var contentDisposition: String?
        package var cacheControl: String?

        package init(contentType: String? = nil, contentDisposition: String? = nil, cacheControl: String? = nil) {
            self.contentType = contentType
            self.contentDisposition = contentDisposition
            self.cacheControl = cacheControl
        }

        fileprivate var query: [(name: String, value: String)] {
            [
                ("response-cache-control", cacheControl), ("response-content-disposition", contentDisposition),
                ("response-content-type", contentType),
            ].compactMap { name, value in value.map { (name, $0) } }
        }
    }

    /// How long the signature of one of our own requests is valid. Clocks may differ by some minutes.
    private static let requestSeconds = 900

    private let origin: String
    private let pathPrefix: String
    private let signer: S3Signer
    private let outbound: Outbound
    /// Seconds since 1970.
    private let now: @Sendable () -> Int

    package init(
        _ settings: ObjectStoreSettings, outbound: Outbound,
        now: @escaping @Sendable () -> Int = { WallClock.seconds }
    ) {
        (origin, pathPrefix) = Self.place(settings)
        signer = S3Signer(
            accessKey: settings.accessKey, secretKey: settings.secretKey, region: settings.region)
        self.outbound = outbound
        self.now = now
    }

    /// The origin of the URLs, and the path before the key.
    static func place(_ settings: ObjectStoreSettings) -> (origin: String, pathPrefix: String) {
        var origin = settings.endpoint
        // Clients leave the default port out of the Host header, which is signed.
        if let port = [("https://", ":443"), ("http://", ":80")].first(where: { origin.hasPrefix($0.0) })?.1,
            origin.hasSuffix(port)
        {
            origin.removeLast(port.count)
        }
        guard !settings.usesPathStyle, let scheme = origin.firstRange(of: "://") else {
            return (origin, "/\(settings.bucket)/")
        }
        origin.insert(contentsOf: "\(settings.bucket).", at: scheme.upperBound)
        return (origin, "/")
    }

    /// Writes an object. An object of the same key is replaced.
    ///
    /// - Parameters:
    ///   - digest: SHA-256. If the bytes have another one, the object is not written, and `damaged` is thrown.
    ///   - body: returns the next piece, at most 256 KiB; nil at the end.
    package func put(
        _ key: String, contentType: String, byteCount: Int, digest: [UInt8], body: () async throws -> [UInt8]?
    ) async throws {
        // Stores that know the header check it, the others ignore it.
        let headers = [
            ("content-type", contentType), ("x-amz-checksum-sha256", Data(digest).base64EncodedString()),
        ]
        var exchange = exchange(.put, key, headers: headers)
        exchange.bodyByteCount = byteCount
        var hash = SHA256()
        var leftCount = byteCount
        guard byteCount > 0 || hash.finalize() == digest else { throw ObjectStoreError.damaged }
        let answer = try await perform(exchange) {
            guard let piece = try await body() else { throw ObjectStoreError.damaged }
            hash.update(piece)
            leftCount -= piece.count
            // Before the last piece leaves: without it the store has no object.
            guard leftCount > 0 || leftCount == 0 && hash.finalize() == digest else {
                throw ObjectStoreError.damaged
            }
            return piece
        }
        guard (200..<300).contains(answer.status) else { throw Self.error(answer) }
    }

    /// Reads a part of an object. Throws before the first piece if there is none.
    ///
    /// - Parameters:
    ///   - range: not empty, and within the object.
    ///   - receive: is called with pieces of at most 256 KiB. While it runs, the store waits.
    package func get(_ key: String, range: Range<Int>, _ receive: ([UInt8]) async throws -> Void) async throws {
        var exchange = exchange(.get, key)
        exchange.headers = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        exchange.streamedStatus = 206
        var leftCount = range.count
        let answer = try await perform(
            exchange,
            receive: { piece in
                leftCount -= piece.count
                guard leftCount >= 0 else { throw ObjectStoreError.damaged }
                try await receive(piece)
            })
        guard answer.status == 206 else { throw Self.error(answer) }
        guard leftCount == 0 else { throw ObjectStoreError.damaged }
    }

    /// Deletes an object. One that does not exist counts as deleted.
    package func delete(_ key: String) async throws {
        let answer = try await perform(exchange(.delete, key))
        guard !(200..<300).contains(answer.status) else { return }
        let error = Self.error(answer)
        if error != .notFound { throw error }
    }

    /// Returns a URL under which a client reads the object without credentials, for `seconds`.
    package func redirectURL(for key: String, answering headers: AnswerHeaders, seconds: Int) -> String {
        signer.presign(
            method: "GET", origin: origin, path: pathPrefix + key, query: headers.query, time: now(), seconds: seconds)
    }
}

extension ObjectStore {
    private func exchange(
        _ method: StreamedExchange.Method, _ key: String, headers: [(name: String, value: String)] = []
    ) -> StreamedExchange {
        let url = signer.presign(
            method: method.rawValue, origin: origin, path: pathPrefix + key, headers: headers, time: now(),
            seconds: Self.requestSeconds)
        return StreamedExchange(method, url: url, headers: headers)
    }

    private func perform(
        _ exchange: StreamedExchange, body: () async throws -> [UInt8]? = { nil },
        receive: ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> TransferAnswer {
        do {
            return try await outbound.perform(exchange, body: body, receive: receive)
        } catch let failure as TransferFailure {
            throw ObjectStoreError.unavailable(reason: "\(failure)")
        }
    }

    /// What an answer other than success means.
    static func error(_ answer: TransferAnswer) -> ObjectStoreError {
        let text = String(decoding: answer.body, as: UTF8.self)
        let code = text.firstMatch(of: /<Code>([A-Za-z0-9]{1,64})<\/Code>/).map { String($0.1) }
        let reason = code.map { "\(answer.status) \($0)" } ?? "status \(answer.status)"
        switch (answer.status, code) {
        // 301: the bucket is in another region. 403 may also come from a wrong clock.
        case (301, _), (401, _), (403, _), (404, "NoSuchBucket"): return .refused(reason: reason)
        case (404, _): return .notFound
        case (408, _), (429, _), (500..., _): return .unavailable(reason: reason)
        default: return .rejected(reason: reason)
        }
    }
}
