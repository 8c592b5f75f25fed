// One row with typed access to its columns. A wrong type, NULL or length is an error, never a crash.

import CLibpq
import FoundationEssentials

/// One row of a result. Columns count from 0. Each accessor accepts exactly the types that it names and throws
/// `PostgresError.decoding` for another type, a NULL (unless its name ends in `OrNull`) or a missing column.
package struct Row: Sendable {
    let result: ResultBox
    let index: Int

    /// Returns true for a missing column, too.
    package func isNull(_ column: Int) -> Bool {
        guard column >= 0 && column < result.columnCount else { return true }
        return PQgetisnull(result.pointer, Int32(index), Int32(column)) == 1
    }

    /// The value as it came over the wire (`jsonb` without its version byte), for reading without a copy. The buffer
    /// is valid only inside `body`.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        try body(try present(try cell(column), column).bytes)
    }

    package func bool(_ column: Int) throws -> Bool { try required(column, Bool.self) }
    package func int2(_ column: Int) throws -> Int16 { try required(column, Int16.self) }
    package func int4(_ column: Int) throws -> Int32 { try required(column, Int32.self) }
    package func int8(_ column: Int) throws -> Int64 { try required(column, Int64.self) }
    package func uuid(_ column: Int) throws -> UUID { try required(column, UUID.self) }
    /// `text`, `varchar`, `char(n)`, `name` or `json`.
    package func text(_ column: Int) throws -> String { try required(column, String.self) }
    /// `bytea`, or the UTF-8 of `text`, `varchar`, `json` and `jsonb`.
    package func bytes(_ column: Int) throws -> [UInt8] { try required(column, [UInt8].self) }
    /// `timestamptz` (or `timestamp`, read as UTC) in microseconds since 1970.
    package func timestamp(_ column: Int) throws -> Int64 { try required(column, BinaryTimestamp.self).microsSince1970 }

    package func boolOrNull(_ column: Int) throws -> Bool? { try optional(column, Bool.self) }
    package func int8OrNull(_ column: Int) throws -> Int64? { try optional(column, Int64.self) }
    package func uuidOrNull(_ column: Int) throws -> UUID? { try optional(column, UUID.self) }
    package func textOrNull(_ column: Int) throws -> String? { try optional(column, String.self) }
    package func bytesOrNull(_ column: Int) throws -> [UInt8]? { try optional(column, [UInt8].self) }

    /// Arrays of one dimension. A NULL inside is an error, as is a NULL array.
    package func int4s(_ column: Int) throws -> [Int32] { try array(column) }
    package func int8s(_ column: Int) throws -> [Int64] { try array(column) }
    package func uuids(_ column: Int) throws -> [UUID] { try array(column) }
    package func texts(_ column: Int) throws -> [String] { try array(column) }
}

extension Row {
    /// A value in its binary form, or NULL.
    struct Cell {
        let type: UInt32
        let bytes: UnsafeRawBufferPointer?
    }

    func cell(_ column: Int) throws -> Cell {
        guard column >= 0 && column < result.columnCount else {
            throw PostgresError.decoding("no column \(column) in a row of \(result.columnCount)")
        }
        let (pointer, row, number) = (result.pointer, Int32(index), Int32(column))
        let type = PQftype(pointer, number)
        guard PQgetisnull(pointer, row, number) == 0 else { return Cell(type: type, bytes: nil) }
        guard PQfformat(pointer, number) == 1 else {
            throw PostgresError.decoding("column \(column) is not in binary form")
        }
        var bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, row, number), count: Int(PQgetlength(pointer, row, number)))
        if type == TypeID.jsonb { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) }
        return Cell(type: type, bytes: bytes)
    }

    private func present(_ cell: Cell, _ column: Int) throws -> (type: UInt32, bytes: UnsafeRawBufferPointer) {
        guard let bytes = cell.bytes else { throw PostgresError.decoding("column \(column) is NULL") }
        return (cell.type, bytes)
    }

    private func required<Value: BinaryDecodable>(_ column: Int, _: Value.Type) throws -> Value {
        let (type, bytes) = try present(try cell(column), column)
        return try decode(type, bytes, column)
    }

    private func optional<Value: BinaryDecodable>(_ column: Int, _: Value.Type) throws -> Value? {
        let cell = try cell(column)
        guard let bytes = cell.bytes else {
            guard Value.accepts(cell.type) else { throw wrongType(cell.type, column, Value.self) }
            return nil
        }
        return try decode(cell.type, bytes, column)
    }

    private func decode<Value: BinaryDecodable>(
        _ type: UInt32, _ bytes: UnsafeRawBufferPointer, _ column: Int
    ) throws -> Value {
        guard Value.accepts(type) else { throw wrongType(type, column, Value.self) }
        guard let value = Value(binary: bytes) else {
            throw PostgresError.decoding("column \(column) holds no valid \(Value.self)")
        }
        return value
    }

    private func wrongType(_ type: UInt32, _ column: Int, _ wanted: Any.Type) -> PostgresError {
        .decoding("column \(column) has type \(type), not one for \(wanted)")
    }

    private func array<Element: BinaryDecodable>(_ column: Int) throws -> [Element] {
        try (arrayOrNulls(column) as [Element?]).map { element in
            guard let element else { throw PostgresError.decoding("column \(column) holds an array with a NULL") }
            return element
        }
    }

    func arrayOrNulls<Element: BinaryDecodable>(_ column: Int) throws -> [Element?] {
        let (_, bytes) = try present(try cell(column), column)
        guard var array = BinaryArray(bytes), Element.accepts(array.elementType) else {
            throw PostgresError.decoding("column \(column) is no array of one dimension of \(Element.self)")
        }
        var values: [Element?] = []
        values.reserveCapacity(array.count)
        while let element = array.next() {
            switch element {
            case .null: values.append(nil)
            case .value(let bytes): values.append(try decode(array.elementType, bytes, column))
            }
        }
        guard array.isWhole else { throw PostgresError.decoding("column \(column) holds a broken array") }
        return values
    }
}
