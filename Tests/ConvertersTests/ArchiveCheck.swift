// A strict check of archives: the members of each line, their types, and that all references lead somewhere.
import Basics
import Cryptography
import Domain
import Foundation

struct ArchiveCheck {
    private var mistakes: [String] = []
    private var counts: [String: Int] = [:]
    private var users: Set<String> = []
    private var threads: Set<String> = []
    private var messages: [String: String] = [:]
    private var members: Set<String> = []
    private var files: [String: (size: Int, digest: String, bytes: [UInt8], pieces: Int)] = [:]
    private var usedFiles: Set<String> = []
    private var digest = SHA256()

    /// Members of the lines: required ones, then those that may be missing.
    private static let shapes: [String: (required: Set<String>, optional: Set<String>)] = [
        "archive": (["version", "source"], []),
        "user": (["id", "name", "created_at"], ["username", "status_text", "email", "kind", "suspended"]),
        "thread": (["id", "kind", "created_at"], ["title", "topic", "user_ids"]),
        "member": (["thread_id", "user_id", "role", "status"], ["archived"]),
        "message": (
            ["id", "thread_id", "sender_id", "type", "payload", "created_at"], ["reply_to", "mentions", "edited_at"]
        ),
        "reaction": (["thread_id", "message_id", "user_id", "emoji", "created_at"], []),
        "attachment": (
            ["id", "owner_id", "name", "size", "sha256", "created_at"], ["media_type", "declared_type"]
        ),
        "attachment_data": (["id", "variant", "n", "data"], []),
        "end": (["lines", "counts", "sha256"], []),
    ]

    /// Empty for a correct archive.
    static func mistakes(in lines: [String]) throws -> [String] {
        var check = ArchiveCheck()
        for (index, line) in lines.enumerated() {
            try check.read(line, number: index + 1, isLast: index + 1 == lines.count)
        }
        try check.checkReferences(lines)
        return check.mistakes
    }

    private mutating func read(_ line: String, number: Int, isLast: Bool) throws {
        let value = try JSONReader.read(Array(line.utf8))
        guard line.hasSuffix("\n"), line.utf8.count <= 1_048_576, value.object?.map(\.key) == ["type", "data"],
            let type = value["type"]?.string, let data = value["data"], let shape = Self.shapes[type]
        else { return mistakes.append("line \(number) is no line of an archive") }
        let keys = Set((data.object ?? []).map(\.key))
        if !shape.required.isSubset(of: keys) { mistakes.append("line \(number) lacks members") }
        if !keys.isSubset(of: shape.required.union(shape.optional)) {
            mistakes.append("line \(number) has more members")
        }
        if (type == "archive") != (number == 1) || (type == "end") != isLast {
            mistakes.append("line \(number): order")
        }
        checkValues(data, number)
        if isLast {
            checkEnd(data)
        } else {
            digest.update(Array(line.utf8))
            counts[type, default: 0] += 1
        }
        try note(type, data, number)
    }

    private mutating func checkValues(_ data: JSONValue, _ number: Int) {
        for member in data.object ?? [] {
            let text = member.value.string ?? ""
            if member.key.hasSuffix("_at"), (try? Timestamp(text: text)) == nil || text.count != 24 {
                mistakes.append("line \(number): \(member.key) is no time with milliseconds")
            }
            if ["id", "thread_id", "user_id", "message_id", "sender_id", "owner_id", "reply_to"].contains(member.key),
                UserID(parsing: text)?.description != text
            {
                mistakes.append("line \(number): \(member.key) is no UUID in lower case")
            }
        }
    }

    private mutating func checkEnd(_ data: JSONValue) {
        let sum = digest.finalize().hexadecimal
        if data["sha256"] != .string(sum) { mistakes.append("the sum of end is wrong") }
        let given = (data["counts"]?.object ?? []).map { ($0.key, Int($0.value.integer ?? -1)) }
        if Dictionary(uniqueKeysWithValues: given) != counts { mistakes.append("the counts of end are wrong") }
    }

    private mutating func note(_ type: String, _ data: JSONValue, _ number: Int) throws {
        let id = data["id"]?.string ?? ""
        switch type {
        case "user":
            if !users.insert(id).inserted { mistakes.append("line \(number): the user is there twice") }
            if (try? DisplayName(text: data["name"]?.string ?? "")) == nil { mistakes.append("line \(number): name") }
        case "thread":
            if !threads.insert(id).inserted { mistakes.append("line \(number): the thread is there twice") }
            if (data["kind"] == .string("direct")) != (data["user_ids"]?.array?.count == 2) {
                mistakes.append("line \(number): user_ids")
            }
        case "member":
            let key = (data["thread_id"]?.string ?? "") + (data["user_id"]?.string ?? "")
            if !members.insert(key).inserted { mistakes.append("line \(number): the member is there twice") }
        case "message":
            if messages.updateValue(data["thread_id"]?.string ?? "", forKey: id) != nil {
                mistakes.append("line \(number): the message is there twice")
            }
            try checkPayload(data, number)
        case "attachment":
            files[id] = (Int(data["size"]?.integer ?? -1), data["sha256"]?.string ?? "", [], 0)
        case "attachment_data":
            if Int64(files[id]?.pieces ?? -1) != data["n"]?.integer { mistakes.append("line \(number): n") }
            files[id]?.pieces += 1
            files[id]?.bytes += Data(base64Encoded: data["data"]?.string ?? "") ?? Data()
        default: break
        }
    }

    private mutating func checkPayload(_ data: JSONValue, _ number: Int) throws {
        let ids = data["payload"]?["attachments"]?.array ?? []
        let text = data["payload"]?["text"]?.string
        if text == nil, ids.isEmpty { mistakes.append("line \(number): a message without text and attachments") }
        if (text ?? "").utf8.count > Limits().textByteCountMax {
            mistakes.append("line \(number): the text is too long")
        }
        usedFiles.formUnion(ids.compactMap { $0["id"]?.string })
    }

    private mutating func checkReferences(_ lines: [String]) throws {
        for (index, line) in lines.enumerated() {
            guard let data = try JSONReader.read(Array(line.utf8))["data"] else { continue }
            let named =
                ["user_id", "sender_id", "owner_id"].compactMap { data[$0]?.string }
                + (data["mentions"]?.array ?? []).compactMap(\.string)
                + (data["user_ids"]?.array ?? []).compactMap(\.string)
            if !users.isSuperset(of: named) { mistakes.append("line \(index + 1) names an unknown user") }
            let thread = data["thread_id"]?.string
            if let thread, !threads.contains(thread) { mistakes.append("line \(index + 1) names an unknown thread") }
            let targets = ["reply_to", "message_id"].compactMap { data[$0]?.string }
            if targets.contains(where: { messages[$0] != thread }) {
                mistakes.append("line \(index + 1) names an unknown message")
            }
        }
        if Set(files.keys) != usedFiles { mistakes.append("attachments and messages do not fit") }
        for (id, file) in files where file.bytes.count != file.size || Self.sum(file.bytes) != file.digest {
            mistakes.append("the bytes of the attachment \(id) are wrong")
        }
    }

    private static func sum(_ bytes: [UInt8]) -> String { SHA256.digest(bytes).hexadecimal }
}
