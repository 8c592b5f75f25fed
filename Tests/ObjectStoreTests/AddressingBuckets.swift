// The URLs of a bucket, and what answers mean.
import Outbound
import Testing

@testable import ObjectStore

@Suite("Addressing buckets", .timeLimit(.minutes(1)))
struct AddressingBuckets {
    private func place(_ endpoint: String, pathStyle: Bool) -> String {
        let place = ObjectStore.place(
            ObjectStoreSettings(
                endpoint: endpoint, bucket: "files", region: "r", accessKey: "a", secretKey: "s",
                usesPathStyle: pathStyle))
        return place.origin + place.pathPrefix
    }

    @Test("puts the bucket into the path or the host name, and leaves out the scheme's own port")
    func styles() {
        #expect(place("https://s3.example.com", pathStyle: true) == "https://s3.example.com/files/")
        #expect(place("https://s3.example.com", pathStyle: false) == "https://files.s3.example.com/")
        #expect(place("https://s3.example.com:443", pathStyle: true) == "https://s3.example.com/files/")
        #expect(place("http://s3.example.com:80", pathStyle: false) == "http://files.s3.example.com/")
        #expect(place("http://[::1]:3900", pathStyle: true) == "http://[::1]:3900/files/")
        #expect(place("http://s3:443", pathStyle: true) == "http://s3:443/files/")
    }

    @Test("decides by an answer whether to retry, to correct the settings, or neither")
    func answers() {
        func error(_ status: Int, _ code: String? = nil) -> ObjectStoreError {
            let body = code.map { "<?xml version=\"1.0\"?>\n<Error><Code>\($0)</Code><Message>x</Message></Error>" }
            return ObjectStore.error(TransferAnswer(status: status, body: Array((body ?? "").utf8)))
        }
        #expect(error(404, "NoSuchKey") == .notFound && error(404) == .notFound)
        #expect(error(404, "NoSuchBucket") == .refused(reason: "404 NoSuchBucket"))
        #expect(error(403, "AccessDenied") == .refused(reason: "403 AccessDenied"))
        #expect(error(503, "SlowDown") == .unavailable(reason: "503 SlowDown"))
        #expect(error(429) == .unavailable(reason: "status 429") && error(500) == .unavailable(reason: "status 500"))
        #expect(error(400, "BadDigest") == .rejected(reason: "400 BadDigest"))
        #expect(error(301, "PermanentRedirect") == .refused(reason: "301 PermanentRedirect"))
    }
}
