// Reads PostgreSQL's binary forms. `Row` knows the columns and the errors.

import FoundationEssentials

/// A type that can be read from the binary form of some PostgreSQL types.
protocol BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool
    /// Returns nil when the bytes are not a value of the type.
    init?(binary: UnsafeRawBufferPointer)
}

private func read<Value: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as _: Value.Type) -> Value? {
    guard bytes.count == MemoryLayout<Value>.size else { return nil }
    return Value(bigEndian: bytes.loadUnaligned(as: Value.self))
}

extension Bool: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool { type == TypeID.bool }
    init?(binary: UnsafeRawBufferPointer) {
        guard binary.count == 1 else { return nil }
        self = binary[0] != 0
    }
}

extension Int16: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool { type == TypeID.int2 }
    init?(binary: UnsafeRawBufferPointer) {
        guard let value = read(binary, as: Int16.self) else { return nil }
        self = value
    }
}

extension Int32: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool { type == TypeID.int4 }
    init?(binary: UnsafeRawBufferPointer) {
        guard let value = read(binary, as: Int32.self) else { return nil }
        self = value
    }
}

extension Int64: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool { type == TypeID.int8 }
    init?(binary: UnsafeRawBufferPointer) {
        guard let value = read(binary, as: Int64.self) else { return nil }
        self = value
    }
}

extension UUID: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool { type == TypeID.uuid }
    init?(binary: UnsafeRawBufferPointer) {
        guard binary.count == 16 else { return nil }
        self.init(uuid: binary.loadUnaligned(as: uuid_t.self))
    }
}

extension String: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool {
        switch type {
        case TypeID.text, TypeID.varchar, TypeID.bpchar, TypeID.name, TypeID.json: true
        default: false
        }
    }
    init?(binary: UnsafeRawBufferPointer) { self.init(validating: binary, as: UTF8.self) }
}

extension [UInt8]: BinaryDecodable {
    static func accepts(_ type: UInt32) -> Bool {
        switch type {
        case TypeID.bytea, TypeID.text, TypeID.varchar, TypeID.json, TypeID.jsonb: true
        default: false
        }
    }
    init?(binary: UnsafeRawBufferPointer) { self.init(binary) }
}

/// A point in time. PostgreSQL's infinities are refused.
struct BinaryTimestamp: BinaryDecodable {
    let microsSince1970: Int64

    static func accepts(_ type: UInt32) -> Bool { type == TypeID.timestamptz || type == TypeID.timestamp }
    init?(binary: UnsafeRawBufferPointer) {
        guard let value = read(binary, as: Int64.self), value != .min else { return nil }
        let (micros, isOverflow) = value.addingReportingOverflow(microsFrom1970To2000)
        guard !isOverflow else { return nil }
        microsSince1970 = micros
    }
}

/// Walks the elements of an array's binary form (`array_send`). Arrays of several dimensions are refused.
struct BinaryArray {
    enum Element {
        case null
        case value(UnsafeRawBufferPointer)
    }

    let elementType: UInt32
    let count: Int
    private var rest: UnsafeRawBufferPointer
    private var takenCount = 0

    init?(_ bytes: UnsafeRawBufferPointer) {
        // Dimensions, "has nulls", element type; then the dimension's length and lower bound.
        func word(_ index: Int) -> Int32 {
            Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: Int32.self))
        }
        guard bytes.count >= 12 else { return nil }
        elementType = UInt32(bitPattern: word(2))
        switch word(0) {
        case 0:
            count = 0
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(12))
        case 1:
            // Each element has a length of 4 bytes, so a larger count is false.
            guard bytes.count >= 20, word(3) >= 0, Int(word(3)) <= (bytes.count - 20) / 4 else { return nil }
            count = Int(word(3))
            rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(20))
        default: return nil
        }
    }

    /// All elements were read and nothing is left over.
    var isWhole: Bool { takenCount == count && rest.isEmpty }

    mutating func next() -> Element? {
        guard takenCount < count, rest.count >= 4 else { return nil }
        let length = Int(Int32(bigEndian: rest.loadUnaligned(as: Int32.self)))
        guard length >= -1, rest.count - 4 >= length else { return nil }
        takenCount += 1
        guard length >= 0 else {
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4))
            return .null
        }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4 + length)) }
        return .value(UnsafeRawBufferPointer(rebasing: rest[4..<4 + length]))
    }
}
