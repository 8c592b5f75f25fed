// Short forms for statements. All are compiled once a connection.
import Foundation
internal import GRDB

extension Database {
    func run(_ sql: String, _ arguments: StatementArguments = .init()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }

    func row(_ sql: String, _ arguments: StatementArguments = .init()) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func rows(_ sql: String, _ arguments: StatementArguments = .init()) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func one<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = .init()
    ) throws -> Value? {
        try Value.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func all<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ sql: String, _ arguments: StatementArguments = .init()
    ) throws -> [Value] {
        try Value.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// A seq. The type itself does not know columns, because apps must not see the database.
    func seq(_ sql: String, _ arguments: StatementArguments = .init()) throws -> Seq? {
        try (one(sql, arguments) as Int?).map { Seq($0) }
    }

    /// A value of the table `device`.
    func value(_ key: String) throws -> String? {
        try one("select value from device where key = ?", [key])
    }

    func setValue(_ key: String, _ value: String?) throws {
        if let value {
            try run("insert or replace into device (key, value) values (?, ?)", [key, value])
        } else {
            try run("delete from device where key = ?", [key])
        }
    }
}

extension JSONValue {
    /// Reads the JSON of a column.
    init(stored text: String) throws {
        try self.init(json: text)
    }
}

extension Row {
    /// A column with a seq; nil if it is null.
    func seq(_ column: String) -> Seq? { (self[column] as Int?).map { Seq($0) } }

    /// A column with a seq; nil if it is null.
    func seq(at index: Int) -> Seq? { (self[index] as Int?).map { Seq($0) } }

    /// Decodes a column with JSON; nil if this version of the client cannot read it. One such row must not hide a list.
    func decodeIfReadable<Value: Decodable>(_: Value.Type, _ column: String) -> Value? {
        try? decode(Value.self, column)
    }

    /// Decodes a column with JSON.
    func decode<Value: Decodable>(_: Value.Type, _ column: String) throws -> Value {
        let text: String = self[column]
        return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
