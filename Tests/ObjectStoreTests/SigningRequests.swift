// Signatures against AWS's published example and botocore.
import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite("Signing S3 requests", .timeLimit(.minutes(1)))
struct SigningRequests {
    @Test("signs the presigned example of AWS's documentation")
    func published() {
        // docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
        let signer = S3Signer(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1")
        let url = signer.presign(
            method: "GET", origin: "https://examplebucket.s3.amazonaws.com", path: "/test.txt", time: 1_369_353_600,
            seconds: 86_400)
        let expected =
            "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
            + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(url == expected)
    }

    private struct Request: Encodable {
        var method: String
        var origin: String
        var path: String
        var query: [[String]]
        var headers: [[String]]
        var time: Int
        var seconds: Int
        var accessKey: String
        var secretKey: String
        var region: String

        init(_ random: inout SplitMix64) {
            method = ["GET", "PUT", "DELETE", "HEAD"].randomElement(using: &random) ?? ""
            origin =
                ["https://s3.eu-west-1.amazonaws.com", "http://127.0.0.1:3900", "https://files.s3.example.com"]
                .randomElement(using: &random) ?? ""
            path = "/" + Self.text(&random, "/")
            let names = [
                "response-content-type", "response-content-disposition", "response-cache-control", "versionId",
            ]
            query = names.shuffled(using: &random).prefix(random.below(5)).map { [$0, Self.text(&random, " ")] }
            headers = ["content-type", "x-amz-checksum-sha256", "range", "x-amz-meta-a"].prefix(random.below(5))
                .map { [$0, Self.token(&random) + ["", "  b", " ; c=d"][random.below(3)]] }
            time = random.below(4_000_000_000)
            seconds = 1 + random.below(604_800)
            accessKey = Self.token(&random)
            secretKey = Self.token(&random)
            region = ["us-east-1", "garage", "auto"][random.below(3)]
        }

        private static func text(_ random: inout SplitMix64, _ more: String) -> String {
            let characters = Array("aZ09-._~!*'()+=&%?#:@$,;[]\"<>\\^`{|}é漢😀/" + more)
            return String((0..<random.below(30)).map { _ in characters[random.below(characters.count)] })
        }

        private static func token(_ random: inout SplitMix64) -> String {
            let characters = Array("abcXYZ019+/=:")
            return String((0..<(1 + random.below(40))).map { _ in characters[random.below(characters.count)] })
        }

        var url: String {
            S3Signer(accessKey: accessKey, secretKey: secretKey, region: region).presign(
                method: method, origin: origin, path: path, query: query.map { ($0[0], $0[1]) },
                headers: headers.map { ($0[0], $0[1]) }, time: time, seconds: seconds)
        }
    }

    @Test(
        "signs 1,000 random requests byte for byte as botocore does",
        .enabled(if: Tool.permits(TestObjectStore.isInstalled), "\(TestObjectStore.needed)"))
    func botocore() throws {
        var random = SplitMix64(freshFor: "signing random requests")
        let requests = (0..<1_000).map { _ in Request(&random) }
        let encoder = JSONEncoder()
        let lines = try requests.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        let urls = try TestObjectStore.botocoreURLs(lines)
        #expect(urls.count == requests.count)
        for (request, url) in zip(requests, urls) where request.url != url {
            Issue.record("\(request)\nours:     \(request.url)\nbotocore: \(url)")
        }
    }
}
