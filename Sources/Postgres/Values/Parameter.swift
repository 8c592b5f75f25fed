// The values that can be sent. `EncodedParameters` has their binary form.

import FoundationEssentials

/// A value for `$1`, `$2` …, always sent in PostgreSQL's binary form. The parameter's type in the SQL must be exactly
/// the type named here, or the server refuses the value.
package enum Parameter: Sendable, Equatable {
    /// NULL of any type.
    case null
    case bool(Bool)
    case int2(Int16)
    case int4(Int32)
    case int8(Int64)
    /// `text` (or `varchar`). The server refuses a NUL in it (22021).
    case text(String)
    /// `bytea`.
    case bytes([UInt8])
    case uuid(UUID)
    /// `json` or `text`, as UTF-8. Not `jsonb`, whose binary form differs: write `$1::json::jsonb`.
    case json([UInt8])
    /// `timestamptz`, in microseconds since 1970. Outside PostgreSQL's range it becomes an infinity.
    case timestamp(microsSince1970: Int64)

    /// Arrays of one dimension: `uuid[]`, `text[]`, `int8[]`, `int4[]`, `int2[]`, `bool[]`, `bytea[]`, `json[]`
    /// (and not `text[]`), `timestamptz[]` in microseconds since 1970.
    case uuids([UUID?])
    case texts([String?])
    case int8s([Int64?])
    case int4s([Int32?])
    case int2s([Int16?])
    case bools([Bool?])
    case bytesArray([[UInt8]?])
    case jsons([[UInt8]?])
    case timestamps([Int64?])
}

/// The types this layer knows, by their fixed object ids (`pg_type.dat`).
enum TypeID {
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamp: UInt32 = 1114
    static let timestamptz: UInt32 = 1184
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802
}

/// PostgreSQL counts microseconds from 2000-01-01, the service from 1970-01-01.
let microsFrom1970To2000: Int64 = 946_684_800_000_000
