// Parameters in binary form, encoded on the caller's thread so that the I/O thread only passes pointers.

import FoundationEssentials

/// All parameters of one statement in one buffer.
struct EncodedParameters: Sendable, Equatable {
    /// All values, and one spare byte, so that even an empty value has an address (libpq reads no address as NULL).
    private(set) var bytes: [UInt8] = []
    /// The start and length of each value; length -1 is NULL.
    private(set) var places: [Place] = []

    struct Place: Sendable, Equatable {
        var offset: Int
        var length: Int32
    }

    /// The protocol counts parameters in 16 bits.
    static let countMax = 65_535
    /// PostgreSQL accepts messages below 1 GiB; a quarter of that leaves room for the server's own copies.
    static let byteCountMax = 256 << 20

    /// - Throws: `PostgresError.decoding` when there are too many or too large ones.
    init(_ parameters: [Parameter]) throws(PostgresError) {
        guard parameters.count <= Self.countMax else { throw .decoding("more than \(Self.countMax) parameters") }
        places.reserveCapacity(parameters.count)
        bytes.reserveCapacity(parameters.count * 16 + 1)
        for parameter in parameters {
            let offset = bytes.count
            let isPresent = append(parameter)
            guard bytes.count <= Self.byteCountMax else {
                throw .decoding("parameters over \(Self.byteCountMax) bytes")
            }
            places.append(Place(offset: offset, length: isPresent ? Int32(bytes.count - offset) : -1))
        }
        bytes.append(0)
    }

    private mutating func append(_ parameter: Parameter) -> Bool {
        switch parameter {
        case .null: return false
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int2(let value): append(value)
        case .int4(let value): append(value)
        case .int8(let value): append(value)
        case .text(let value): bytes.append(contentsOf: value.utf8)
        case .bytes(let value), .json(let value): bytes.append(contentsOf: value)
        case .uuid(let value): append(value)
        case .timestamp(let micros): append(Self.microsSince2000(micros))
        case .uuids(let values): appendArray(values, of: TypeID.uuid) { $0.append($1) }
        case .texts(let values): appendArray(values, of: TypeID.text) { $0.bytes.append(contentsOf: $1.utf8) }
        case .int8s(let values): appendArray(values, of: TypeID.int8) { $0.append($1) }
        case .int4s(let values): appendArray(values, of: TypeID.int4) { $0.append($1) }
        case .int2s(let values): appendArray(values, of: TypeID.int2) { $0.append($1) }
        case .bools(let values): appendArray(values, of: TypeID.bool) { $0.bytes.append($1 ? 1 : 0) }
        case .bytesArray(let values): appendArray(values, of: TypeID.bytea) { $0.bytes.append(contentsOf: $1) }
        case .jsons(let values): appendArray(values, of: TypeID.json) { $0.bytes.append(contentsOf: $1) }
        case .timestamps(let values):
            appendArray(values, of: TypeID.timestamptz) { $0.append(Self.microsSince2000($1)) }
        }
        return true
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ value: UUID) {
        withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
    }

    /// Dimensions, "has nulls", element type; then length and lower bound of the dimension; then the elements, each
    /// with its length before it (`array_recv`). An empty array has no dimension.
    private mutating func appendArray<Element>(
        _ values: [Element?], of type: UInt32, _ appendElement: (inout Self, Element) -> Void
    ) {
        append(Int32(values.isEmpty ? 0 : 1))
        append(Int32(values.contains { $0 == nil } ? 1 : 0))
        append(type)
        guard !values.isEmpty else { return }
        append(Int32(clamping: values.count))
        append(Int32(1))
        for value in values {
            guard let value else {
                append(Int32(-1))
                continue
            }
            let lengthAt = bytes.count
            append(Int32(0))
            appendElement(&self, value)
            let length = Int32(clamping: bytes.count - lengthAt - 4).bigEndian
            withUnsafeBytes(of: length) { bytes.replaceSubrange(lengthAt..<lengthAt + 4, with: $0) }
        }
    }

    /// `Int64.min` and `.max` are PostgreSQL's infinities.
    private static func microsSince2000(_ micros: Int64) -> Int64 {
        let (value, isOverflow) = micros.subtractingReportingOverflow(microsFrom1970To2000)
        return isOverflow ? .min : value
    }

    /// Calls `body` with the arguments of libpq's functions: count, values, lengths and formats (all binary). The
    /// pointers are valid only inside.
    func withPointers<Result>(
        _ body: (
            Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        let count = places.count
        guard count > 0 else { return body(0, nil, nil, nil) }
        return bytes.withUnsafeBytes { buffer in
            withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * 2) { numbers in
                    for (index, place) in places.enumerated() {
                        let start = buffer.baseAddress.map { ($0 + place.offset).assumingMemoryBound(to: CChar.self) }
                        values.initializeElement(at: index, to: place.length < 0 ? nil : start)
                        numbers.initializeElement(at: index, to: max(place.length, 0))
                        numbers.initializeElement(at: count + index, to: 1)
                    }
                    return body(
                        Int32(count), values.baseAddress, numbers.baseAddress, numbers.baseAddress.map { $0 + count })
                }
            }
        }
    }
}
