// An archive for tests: a group, a direct thread and a room of three people, with one of each kind of line. Each
// instance has its own ids and names.
import Basics
import Cryptography
import Domain

package struct SampleArchive: Sendable {
    package let ann = UserID.make()
    package let bob = UserID.make()
    package let bot = UserID.make()
    package let group = ThreadID.make()
    package let direct = ThreadID.make()
    package let room = ThreadID.make()
    /// The messages of the group, the oldest first. The third is deleted.
    package let messages = (0..<5).map { _ in MessageID.make() }
    package let reply = MessageID.make()
    package let file = AttachmentID.make()
    package let username: String
    /// What searches find.
    package let word: String
    package let bytes = Array("the bytes of a file".utf8)

    package init() {
        let suffix = String(UserID.make().description.suffix(12))
        username = "ann.\(suffix)"
        word = "w\(suffix)"
    }

    package var text: String { (lines + [#"{"type":"end","data":{}}"#]).joined(separator: "\n") + "\n" }

    package var lines: [String] {
        [#"{"type":"archive","data":{"version":1}}"#] + people + threads + files + conversation + marks
    }

    package static func line(_ type: String, _ data: String) -> String { #"{"type":"\#(type)","data":{\#(data)}}"# }

    private func line(_ type: String, _ data: String) -> String { Self.line(type, data) }

    package var people: [String] {
        [
            line(
                "user",
                #""id":"\#(ann)","username":"\#(username)","name":"Ann \#(word)","created_at":"2020-01-01T00:00:00Z""#
                    + #","email":"\#(username)@a.example","status_text":"there","preferences":{"share_presence":false}"#
                    + #","custom":{"a":null,"b":[1]}"#
            ),
            line("user", #""id":"\#(bob)","name":"Bob","created_at":"2020-01-02T00:00:00.123Z","suspended":true"#),
            line("user", #""id":"\#(bot)","name":"Bot","kind":"bot","created_at":"2020-01-02T00:00:00Z""#),
            line("block", #""user_id":"\#(ann)","blocked_id":"\#(bot)","created_at":"2020-01-03T00:00:00Z""#),
        ]
    }

    package var threads: [String] {
        let at = #""created_at":"2020-02-01T00:00:00Z""#
        return [
            line(
                "thread",
                #""id":"\#(group)","kind":"group","title":"Trip","external_id":"trip|\#(word)","custom":{"a":null}"#
                    + #","labels":["z","a"],\#(at)"#),
            line("thread", #""id":"\#(direct)","kind":"direct","user_ids":["\#(bob)","\#(ann)"],\#(at)"#),
            line(
                "thread",
                #""id":"\#(room)","kind":"room","title":"Room \#(word)","retention":{"keep":"seconds","seconds":86400},\#(at)"#
            ),
            line(
                "member",
                #""thread_id":"\#(group)","user_id":"\#(ann)","role":"owner","pinned":true,"notify":"mentions","custom":{"n":null}"#
                    + #","labels":["work"]"#),
            line(
                "member",
                #""thread_id":"\#(group)","user_id":"\#(bob)","read_seq":20,"joined_at":"2020-02-02T00:00:00Z""#),
            line("member", #""thread_id":"\#(group)","user_id":"\#(bot)""#),
            line("member", #""thread_id":"\#(room)","user_id":"\#(bob)","status":"left""#),
            line("member", #""thread_id":"\#(room)","user_id":"\#(ann)""#),
        ]
    }

    package var files: [String] {
        let data = "\(Base64.standard.encode(Array(bytes.prefix(7))))=="
        let rest = Base64.standard.encode(Array(bytes.dropFirst(7)))
        return [
            line(
                "attachment",
                #""id":"\#(file)","owner_id":"\#(ann)","name":"a.txt","media_type":"text/plain","size":\#(bytes.count)"#
                    + #","sha256":"\#(SHA256.digest(bytes).hexadecimal)","created_at":"2020-03-01T00:00:00Z""#),
            line("attachment_data", #""id":"\#(file)","variant":"original","n":0,"data":"\#(data)""#),
            line("attachment_data", #""id":"\#(file)","variant":"original","n":1,"data":"\#(rest)""#),
        ]
    }

    /// The seqs have gaps: 10, 20 … become 1, 2 … They are not in order of the lines.
    package var conversation: [String] {
        let home = #""thread_id":"\#(group)","type":"message""#
        let (first, last) = (messages[0], messages[4])
        return [
            line(
                "message",
                #"\#(home),"id":"\#(messages[1])","seq":20,"sender_id":"\#(bob)","payload":{"text":"\#(word) two"}"#
                    + #","reply_to":"\#(first)","mentions":["\#(ann)"],"created_at":"2020-03-02T00:00:00Z""#
                    + #","edited_at":"2020-03-02T01:00:00Z""#),
            line(
                "message",
                #"\#(home),"id":"\#(first)","seq":10,"sender_id":"\#(ann)","created_at":"2020-03-03T00:00:00Z""#
                    + #","payload":{"text":"one","attachments":[{"id":"\#(file)","name":"a.txt"}]}"#),
            line(
                "message",
                #"\#(home),"id":"\#(messages[2])","seq":30,"sender_id":"\#(ann)","created_at":"2020-03-04T00:00:00Z""#
                    + #","deleted_at":"2020-03-04T01:00:00Z""#),
            line(
                "message",
                #""thread_id":"\#(group)","type":"system","id":"\#(messages[3])","seq":40,"sender_id":null"#
                    + #","payload":{"action":"renamed"},"created_at":"2020-03-05T00:00:00Z""#),
            line(
                "message",
                #"\#(home),"id":"\#(last)","seq":50,"sender_id":"\#(bot)","payload":{"text":"five"}"#
                    + #","created_at":"2020-03-06T00:00:00Z""#),
            line(
                "message",
                #""thread_id":"\#(direct)","type":"location","id":"\#(reply)","sender_id":"\#(ann)""#
                    + #","payload":{"latitude":1,"longitude":2},"created_at":"2020-03-06T00:00:00Z""#),
        ]
    }

    package var marks: [String] {
        let home = #""thread_id":"\#(group)""#
        return [
            line(
                "message_version",
                #"\#(home),"message_id":"\#(messages[1])","version":0,"payload":{"text":"tow"}"#
                    + #","replaced_at":"2020-03-02T01:00:00Z""#),
            line(
                "reaction",
                #"\#(home),"message_id":"\#(messages[1])","user_id":"\#(ann)","emoji":"👍"#
                    + #"","created_at":"2020-03-02T02:00:00Z""#),
            line("receipt", #"\#(home),"user_id":"\#(bob)","kind":"read","seq":20,"at":"2020-03-03T00:00:00Z""#),
            line("hidden_message", #"\#(home),"user_id":"\#(ann)","message_id":"\#(messages[4])""#),
        ]
    }
}
