// Signatures of S3 requests (AWS Signature Version 4), in the query: the same form for our own requests and for
// redirects.
import Basics
import Cryptography
import FoundationEssentials

/// Makes presigned URLs. No library signs in the query form: libcurl's signer writes headers, and the AWS SDK for Swift
/// brings an HTTP stack of its own.
///
/// The payload's hash is `UNSIGNED-PAYLOAD`, as AWS requires for presigned URLs. `ObjectStore` sends the hash in a
/// signed header instead.
package struct S3Signer: Sendable {
    private let accessKey: String
    private let secretKey: String
    private let region: String

    package init(accessKey: String, secretKey: String, region: String) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.region = region
    }

    /// Returns the URL with a signature.
    ///
    /// - Parameters:
    ///   - origin: scheme, host and port. The port is left out where it is the scheme's default, as in the Host header.
    ///   - path: with a slash at its beginning, not percent-encoded.
    ///   - query: not percent-encoded. No name may occur twice.
    ///   - headers: names in lower case. The request must send exactly these values. Host is added here.
    ///   - time: seconds since 1970.
    ///   - seconds: how long the URL is valid, at most 604,800.
    package func presign(
        method: String, origin: String, path: String, query: [(name: String, value: String)] = [],
        headers: [(name: String, value: String)] = [], time: Int, seconds: Int
    ) -> String {
        let (day, timestamp) = Self.timestamp(time)
        let scope = "\(day)/\(region)/s3/aws4_request"
        let host = origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
        let signed = (headers + [("host", host)]).sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let all =
            query + [
                ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", "\(accessKey)/\(scope)"),
                ("X-Amz-Date", timestamp), ("X-Amz-Expires", "\(seconds)"), ("X-Amz-SignedHeaders", names),
            ]
        let pairs = all.map { (name: $0.name.percentEncoded(), value: $0.value.percentEncoded()) }
        let sorted = pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let encodedPath = path.percentEncoded(keeping: "/")
        let request = [
            method, encodedPath, Self.joined(sorted),
            signed.map { "\($0.name):\(Self.trimmed($0.value))\n" }.joined(), names, "UNSIGNED-PAYLOAD",
        ].joined(separator: "\n")
        let text = "AWS4-HMAC-SHA256\n\(timestamp)\n\(scope)\n\(SHA256.digest(Array(request.utf8)).hexadecimal)"
        let signature = Self.hmac(text, key: signingKey(day)).hexadecimal
        return "\(origin)\(encodedPath)?\(Self.joined(pairs))&X-Amz-Signature=\(signature)"
    }

    /// The key of one day and region.
    private func signingKey(_ day: String) -> [UInt8] {
        [day, region, "s3", "aws4_request"].reduce(Array("AWS4\(secretKey)".utf8)) { key, text in
            Self.hmac(text, key: key)
        }
    }

    private static func hmac(_ text: String, key: [UInt8]) -> [UInt8] {
        HMACSHA256(key: key).code(of: Array(text.utf8))
    }

    private static func joined(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// `20130524` and `20130524T000000Z`.
    private static func timestamp(_ time: Int) -> (day: String, timestamp: String) {
        let civil = CivilTime(secondsSince1970: time)
        let day = "\(civil.year.padded(to: 4))\(civil.month.padded(to: 2))\(civil.day.padded(to: 2))"
        return (day, "\(day)T\(civil.timeOfDay.filter { $0 != ":" })Z")
    }

    /// Without space at the ends, and with single spaces inside.
    private static func trimmed(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}
