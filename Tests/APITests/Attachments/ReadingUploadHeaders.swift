// The headers of uploads and downloads, without a server.
import Domain
import HTTPTypes
import NIOHTTP1
import Testing

@testable import API
@testable import Transport

@Suite("Headers of uploads", .timeLimit(.minutes(1)))
struct ReadingUploadHeaders {
    @Test(
        "have booleans of structured fields",
        arguments: [
            ("?1", true), ("?0", false), (" ?1 ", true), ("?1;a=b", true), ("?0 ; a", false), ("1", nil), ("true", nil),
            ("?2", nil), ("", nil), ("?1, ?0", nil), ("?10", nil), ("\"?1\"", nil),
        ] as [(String, Bool?)])
    func booleans(_ text: String, _ expected: Bool?) {
        #expect(StructuredField.boolean(text) == expected)
    }

    @Test(
        "have whole numbers of at most 15 digits",
        arguments: [
            ("0", 0), ("007", 7), (" 42 ", 42), ("5;a=1", 5), ("999999999999999", 999_999_999_999_999),
            ("1000000000000000", nil), ("-1", nil), ("+1", nil), ("1.0", nil), ("1, 1", nil), ("", nil), ("x", nil),
        ] as [(String, Int?)])
    func numbers(_ text: String, _ expected: Int?) {
        #expect(StructuredField.count(text) == expected)
    }

    private func mistakes(_ headers: HTTPFields) -> [String] {
        do throws(Problem) {
            _ = try UploadHeaders(RequestHeaders(headers))
            return []
        } catch {
            return error.fields.map(\.field)
        }
    }

    @Test("are refused together, by their names")
    func refused() {
        #expect(
            mistakes([.uploadComplete: "yes", .uploadOffset: "-1", .uploadLength: "x"]) == [
                "Upload-Complete", "Upload-Offset", "Upload-Length",
            ])
    }

    @Test("must agree about the length")
    func lengths() throws {
        func agree(_ headers: HTTPFields, length: Int?, offset: Int = 0) throws -> Bool {
            let upload = try UploadHeaders(RequestHeaders(headers))
            do throws(Problem) {
                try upload.checkLength(length, offset: offset)
                return true
            } catch {
                return false
            }
        }
        #expect(try !agree([.contentLength: "9"], length: 10))
        #expect(try agree([.contentLength: "10"], length: 10))
        #expect(try agree([.contentLength: "9", .uploadComplete: "?0"], length: 10))
        #expect(try !agree([.contentLength: "11", .uploadComplete: "?0"], length: 10))
        #expect(try agree([.contentLength: "6", .uploadComplete: "?1"], length: 10, offset: 4))
        #expect(try !agree([.contentLength: "5", .uploadComplete: "?1"], length: 10, offset: 4))
        // The length of a chunked body is known at its end only.
        #expect(try agree([.transferEncoding: "chunked"], length: 10))
        #expect(try agree([.contentLength: "10"], length: nil))
    }
}

extension RequestHeaders {
    fileprivate init(_ fields: HTTPFields) {
        self.init(headers: HTTPHeaders(fields.map { ($0.name.rawName, $0.value) }))
    }
}

@Suite("Headers of downloads", .timeLimit(.minutes(1)))
struct ReadingDownloadHeaders {
    @Test(
        "ask for one range, for the whole file, or for nothing that exists",
        arguments: [
            (nil, .whole), ("bytes=0-9", .part(0..<10)), ("bytes=0-", .part(0..<100)), ("bytes=99-", .part(99..<100)),
            ("bytes=-1", .part(99..<100)), ("bytes=-200", .part(0..<100)), ("bytes=50-500", .part(50..<100)),
            ("BYTES = 1 - 2", .part(1..<3)), ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=100-200", .unsatisfiable), ("bytes=999999999999999999-", .unsatisfiable),
            ("bytes=5-4", .whole), ("bytes=-", .whole), ("bytes=0-1,3-4", .whole), ("bytes=a-b", .whole),
            ("bytes 0-1", .whole), ("lines=0-1", .whole), ("bytes=+1-2", .whole), ("bytes=1--2", .whole), ("", .whole),
            // Any number of digits is a number.
            ("bytes=9999999999999999999-", .unsatisfiable), ("bytes=1000000000000000000-", .unsatisfiable),
            ("bytes=0-99999999999999999999999999999999", .part(0..<100)),
            ("bytes=-99999999999999999999999999999999", .part(0..<100)),
            ("bytes=00000000000000000000000000000001-2", .part(1..<3)),
            ("bytes=99999999999999999999-5", .whole), ("bytes=9999999999999999999x-", .whole),
        ] as [(String?, RequestedRange)])
    func ranges(_ header: String?, _ expected: RequestedRange) {
        #expect(RequestedRange(header, byteCount: 100) == expected)
    }

    @Test("find no range in an empty file")
    func emptyFile() {
        #expect(RequestedRange("bytes=0-", byteCount: 0) == .unsatisfiable)
        #expect(RequestedRange("bytes=-5", byteCount: 0) == .unsatisfiable)
    }

    @Test("name entity tags, weak ones and * among them")
    func tags() {
        let tag = EntityTag(digest: [0x0a, 0xff])
        #expect(tag.text == "\"0aff\"")
        for header in ["\"0aff\"", "*", "\"x\", \"0aff\"", "W/\"0aff\"", " \"0aff\" "] {
            #expect(tag.isNamed(in: header), "\(header)")
        }
        for header in ["0aff", "\"0AFF\"", "", "\"0aff", "w/\"0aff\""] {
            #expect(!tag.isNamed(in: header), "\(header)")
        }
        #expect(tag.allowsPart(ifRange: nil) && tag.allowsPart(ifRange: "\"0aff\""))
        #expect(!tag.allowsPart(ifRange: "W/\"0aff\"") && !tag.allowsPart(ifRange: "\"other\""))
        #expect(!tag.allowsPart(ifRange: "Sat, 21 Nov 2026 10:00:00 GMT"))
    }
}
