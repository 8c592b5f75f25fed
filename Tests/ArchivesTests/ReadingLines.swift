import Archives
// What single lines of archives say, and what is refused with the number of the line.
import Basics
import Domain
import Store
import TestSupport
import Testing

@Suite("Lines of an archive", .timeLimit(.minutes(1)))
struct ReadingLines {
    private func parse(_ text: String, line: Int = 1) throws -> ArchiveLine? {
        var parser = LineParser(limits: Limits())
        return try parser.parse(Array(text.utf8)[...], line: line)
    }

    private func refusal(_ text: String) throws -> String {
        try #require(throws: ImportFailure.self) { try parse(text, line: 7) }.description
    }

    @Test("are read by their types")
    func types() throws {
        var parser = LineParser(limits: Limits())
        var counts: [String: Int] = [:]
        for (index, text) in SampleArchive().text.split(separator: "\n").enumerated() {
            switch try parser.parse(Array(text.utf8)[...], line: index + 1) {
            case .row(let table, let row):
                counts[table.rawValue, default: 0] += 1
                #expect(row["line"]?.integer == Int64(index + 1))
            case .message: counts["messages", default: 0] += 1
            case .chunk: counts["chunks", default: 0] += 1
            case .header, .end, nil: break
            }
        }
        #expect(
            counts == [
                "users": 3, "blocks": 1, "threads": 3, "members": 5, "messages": 6, "versions": 1, "reactions": 1,
                "receipts": 1, "hides": 1, "attachments": 1, "chunks": 2,
            ])
    }

    @Test("keep what the service stores: milliseconds, attachments by their ids, no content of deleted messages")
    func message() throws {
        let (thread, id, file) = (ThreadID.make(), MessageID.make(), AttachmentID.make())
        let head = #""id":"\#(id)","thread_id":"\#(thread)","sender_id":"\#(UserID.make())","type":"message""#
        let line = try parse(
            SampleArchive.line(
                "message",
                #"\#(head),"later":1,"payload":{"attachments":[{"id":"\#(file)","size":3}],"text":"x","n":1.50}"#
                    + #","created_at":"2020-01-01T00:00:00.123456Z""#))
        guard case .message(let message) = line else { throw ImportFailure.badLine(1, "no message") }
        #expect(message.payload?.attachments == [file] && message.createdAt.microsSince1970 % 1_000_000 == 123_000)
        #expect(
            message.payload.map { String(decoding: $0.text.utf8, as: UTF8.self) }
                == #"{"text":"x","n":1.50,"attachments":[{"id":"\#(file)"}]}"#)
        let deleted = try parse(
            SampleArchive.line(
                "message",
                #"\#(head),"payload":{"text":"x"},"created_at":"2020-01-01T00:00:00Z","deleted_at":"2020-01-02T00:00:00Z""#
            ))
        guard case .message(let tombstone) = deleted else { throw ImportFailure.badLine(1, "no message") }
        #expect(tombstone.payload == nil)
    }

    @Test("may be empty")
    func empty() throws {
        #expect(try parse("") == nil)
        #expect(try parse(" \r") == nil)
    }

    @Test("are refused with their numbers and what is wrong")
    func refusals() throws {
        #expect(try refusal("{") == "Line 7: The line is not valid JSON: found the end of the text at byte 1.")
        #expect(try refusal("[]").hasPrefix("Line 7: body: Must be a JSON object."))
        #expect(try refusal(#"{"type":"channel","data":{}}"#).hasPrefix("Line 7: type: Must be one of: archive, user"))
        #expect(try refusal(#"{"type":"archive","data":{"version":1}}"#).contains("must be the first one"))
        let id = #""id":"\#(UserID.make())""#
        let user = try refusal(SampleArchive.line("user", #"\#(id),"username":"a b","name":"A""#))
        #expect(user.contains("data.username: ") && user.contains("data.created_at: Is required."))
        let at = #""created_at":"2020-01-01T00:00:00Z""#
        let message = #"\#(id),"thread_id":"\#(ThreadID.make())",\#(at)"#
        #expect(
            try refusal(SampleArchive.line("message", #"\#(message),"type":"message","payload":{"text":"x"}"#))
                .contains("data.sender_id: "))
        #expect(
            try refusal(SampleArchive.line("message", #"\#(message),"type":"system","sender_id":"\#(UserID.make())""#))
                .contains("data.sender_id: "))
        #expect(
            try refusal(
                SampleArchive.line(
                    "message", #"\#(message),"type":"message","sender_id":"\#(UserID.make())","payload":{"text":""}"#)
            ).contains("data.payload.text: Must not be empty."))
        #expect(
            try refusal(
                SampleArchive.line("thread", #"\#(id),"kind":"direct","user_ids":["\#(UserID.make())"],\#(at)"#)
            ).contains("data.user_ids: Must be two different users."))
        #expect(
            try refusal(SampleArchive.line("attachment_data", #"\#(id),"variant":"original","n":0,"data":"a""#))
                .contains("data.data: Must be base64"))
    }

    @Test("of thumbnails have one whole picture of at most 1,280 pixels a side")
    func thumbnails() throws {
        func line(_ bytes: [UInt8], number: Int = 0) -> String {
            let data = #""id":"\#(UserID.make())","variant":"thumbnail","n":\#(number)"#
            return SampleArchive.line("attachment_data", #"\#(data),"data":"\#(Base64.standard.encode(bytes))""#)
        }
        /// A PNG without pixels to speak of.
        func picture(width: UInt8, frames: [UInt8] = []) -> [UInt8] {
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8)
                + [0, 0, width, 0, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0, 0, 0, 0] + frames + [0, 0, 0, 0] + Array("IDAT".utf8)
                + [0, 0, 0, 0]
        }
        #expect(throws: Never.self) { try parse(line(picture(width: 5))) }
        #expect(try refusal(line(picture(width: 6))).contains("data.data: Must have at most 1280 pixels on each side."))
        let frames: [UInt8] = [0, 0, 0, 8] + Array("acTL".utf8) + [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(try refusal(line(picture(width: 1, frames: frames))).contains("data.data: Must have one frame."))
        #expect(try refusal(line([1, 2, 3])).contains("data.data: Must be a JPEG, PNG or WebP picture"))
        #expect(try refusal(line(picture(width: 1), number: 1)).contains("data.n: Must be 0"))
    }

    @Test("end with the line `end`")
    func end() throws {
        var parser = LineParser(limits: Limits())
        let line = Array(#"{"type":"end","data":{}}"#.utf8)[...]
        _ = try parser.parse(line, line: 1)
        #expect(try parser.parse([], line: 2) == nil)
        #expect(throws: ImportFailure.badLine(3, "The line `end` must be the last one.")) {
            try parser.parse(line, line: 3)
        }
    }
}
