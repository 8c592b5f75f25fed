// The seal around typing and presence on their way between nodes. Pure: the time comes from the caller.
import Basics
import Cryptography
import Domain

/// Seals what this node publishes, and opens what other nodes have sealed. Any user of the database may listen to a
/// channel and notify it. So a payload shows nothing, and one that no node has made is dropped.
///
/// A payload is base64 of a version, the node, its count of payloads, and then, encrypted, the time and the text. Each
/// payload has a key of its own, derived from the shared one by node and count. So no key is used twice, and a changed
/// node or count opens nothing.
struct PassingSeal {
    /// The most bytes of a text, for a payload of less than 8,000 bytes.
    static let textByteCountMax = 5900
    /// NOTIFY accepts less than 8,000 bytes.
    static let payloadByteCountMax = 7999
    /// A payload that is older, or that much ahead of the database's clock, is dropped.
    static let ageMaxMicros: Int64 = 60_000_000
    /// With more nodes than this, those that were silent for longer than `ageMaxMicros` are forgotten.
    static let nodeCountMax = 100

    private static let version: UInt8 = 1
    private static let headByteCount = 1 + 8 + 8
    private static let timeByteCount = 8

    private let key: [UInt8]
    /// Names this node until it stops.
    private let node: UInt64
    private var count: UInt64 = 0
    /// The last payload of each other node that was opened. PostgreSQL keeps the order of a node's payloads, so an
    /// earlier one is a repetition by somebody else.
    private var latest: [UInt64: (count: UInt64, at: Int64)] = [:]

    init(key: [UInt8], node: UInt64) {
        self.key = key
        self.node = node
    }

    /// Returns the payload for a text. Nil for one that is too large.
    mutating func seal(_ text: String, now: Timestamp) throws(CryptographyError) -> String? {
        guard text.utf8.count <= Self.textByteCountMax else { return nil }
        count += 1
        let head = [Self.version] + Self.bytes(node) + Self.bytes(count)
        let inside = Self.bytes(UInt64(bitPattern: now.microsSince1970)) + Array(text.utf8)
        return Base64.urlSafe.encode(head + (try AES128GCM.seal(inside, key: key(for: head), nonce: Self.nonce)))
    }

    /// Returns the text of another node's payload. Nil for this node's own, and for one that is forged, repeated, or more
    /// than a minute old.
    mutating func open(_ payload: String, now: Timestamp) throws(CryptographyError) -> String? {
        guard payload.utf8.count <= Self.payloadByteCountMax, let bytes = Base64.urlSafe.decode(payload),
            bytes.count >= Self.headByteCount + Self.timeByteCount + AES128GCM.tagByteCount, bytes[0] == Self.version
        else { return nil }
        let (sender, number) = (Self.number(bytes[1..<9]), Self.number(bytes[9..<17]))
        guard sender != node, latest[sender].map({ number > $0.count }) ?? true else { return nil }
        let head = Array(bytes[..<Self.headByteCount])
        guard
            let inside = try AES128GCM.open(
                Array(bytes[Self.headByteCount...]), key: key(for: head), nonce: Self.nonce)
        else { return nil }
        let at = Int64(bitPattern: Self.number(inside[..<Self.timeByteCount]))
        guard isRecent(at, now) else { return nil }
        if latest.count >= Self.nodeCountMax, latest[sender] == nil {
            latest = latest.filter { isRecent($0.value.at, now) }
        }
        latest[sender] = (number, at)
        return String(validating: inside[Self.timeByteCount...], as: UTF8.self)
    }

    /// How many nodes' counts are kept.
    var nodeCount: Int { latest.count }

    private func isRecent(_ at: Int64, _ now: Timestamp) -> Bool {
        // The time of a payload is any number.
        let (age, isOut) = now.microsSince1970.subtractingReportingOverflow(at)
        return !isOut && age.magnitude <= Self.ageMaxMicros.magnitude
    }

    private func key(for head: [UInt8]) throws(CryptographyError) -> [UInt8] {
        try HKDFSHA256.derive(
            key, salt: head, info: Array("parley typing and presence".utf8), byteCount: AES128GCM.keyByteCount)
    }

    /// The value does not matter, because each key seals one text.
    private static let nonce = [UInt8](repeating: 0, count: AES128GCM.nonceByteCount)

    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
