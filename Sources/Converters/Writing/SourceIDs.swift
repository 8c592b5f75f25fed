// Ids of the archive from ids of the export: the same source always has the same id.
import Cryptography
import Domain
import FoundationEssentials

/// Name-based UUIDs (version 5, RFC 9562) of a system, a namespace, a kind of thing, and its id in the export.
struct SourceIDs {
    let system: ChatSystem
    private let root: UUID

    /// The root of all ids of conversions. Random, made once.
    private static let conversions = UUID(
        uuid: (0x6f, 0x1c, 0x5d, 0x0e, 0x88, 0x3a, 0x4b, 0x57, 0x9e, 0x41, 0x2d, 0xc7, 0x90, 0x13, 0xfa, 0x64))

    init(system: ChatSystem, namespace: String) {
        self.system = system
        root = Self.uuid(Self.conversions, "\(system.rawValue):\(namespace)")
    }

    func user(_ source: String) -> UserID { UserID(Self.uuid(root, "user:" + source)) }
    func message(_ source: String) -> MessageID { MessageID(Self.uuid(root, "message:" + source)) }
    func attachment(_ source: String) -> AttachmentID { AttachmentID(Self.uuid(root, "attachment:" + source)) }

    /// The byte that names the lane (docs/decisions/log.md) is 0, as in every thread's id.
    func thread(_ source: String) -> ThreadID {
        var bytes = Self.uuid(root, "thread:" + source).uuid
        bytes.7 = 0
        return ThreadID(UUID(uuid: bytes))
    }

    /// The direct thread of two people, whichever export it comes from.
    func direct(_ first: UserID, _ second: UserID) -> ThreadID {
        thread("direct:\(min(first, second)):\(max(first, second))")
    }

    /// RFC 9562, 5.5.
    static func uuid(_ namespace: UUID, _ name: String) -> UUID {
        var bytes = SHA1.digest(withUnsafeBytes(of: namespace.uuid) { Array($0) } + name.utf8)
        bytes[6] = bytes[6] & 0x0f | 0x50
        bytes[8] = bytes[8] & 0x3f | 0x80
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
