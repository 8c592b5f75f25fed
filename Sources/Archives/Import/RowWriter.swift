// Builds the rows of the staging tables that go to the database as JSON.
import Basics
import Domain

/// The columns of one row. Values that are nil are left out, and null in the table.
struct RowWriter {
    private var members: [JSONValue.Member]

    init(line: Int) { members = [.init("line", .integer(line))] }

    var json: JSONValue { .object(members) }

    mutating func set(_ name: String, _ value: JSONValue) { members.append(.init(name, value)) }

    mutating func set(_ name: String, _ text: String?) { if let text { set(name, .string(text)) } }

    mutating func set(_ name: String, _ flag: Bool?) { if let flag { set(name, .bool(flag)) } }

    mutating func set(_ name: String, number: (some BinaryInteger)?) { if let number { set(name, .integer(number)) } }

    mutating func set<Kind>(_ name: String, _ id: Identifier<Kind>?) { set(name, id?.description) }

    mutating func set(_ name: String, _ time: Timestamp?) { set(name, time?.description) }

    mutating func set<Kind>(_ name: String, _ ids: [Identifier<Kind>]) {
        if !ids.isEmpty { set(name, .array(ids.map { .string($0.description) })) }
    }

    mutating func set(_ name: String, _ labels: Labels?) {
        if let labels, !labels.texts.isEmpty { set(name, labels.json) }
    }

    /// `bytea` in its hexadecimal form.
    mutating func set(_ name: String, _ bytes: [UInt8]?) { set(name, bytes.map { "\\x" + $0.hexadecimal }) }
}
