// Signed texts that open attachments without an Authorization header: links, and the media cookie. Each names a
// session and ends with it, because every download looks the session up.
import Basics
import Cryptography
import Domain
import FoundationEssentials
import Store
import Synchronization

/// What a link opens.
struct LinkTarget: Equatable {
    var attachment: AttachmentID
    var variant: AttachmentVariant
}

/// Signs with HMAC-SHA256 (RFC 2104) and a key that all nodes share.
///
/// The text of a link is Base64 of `kind (1 byte), end in ms (8), user (16), session (16), signature (32)`. That of a
/// cookie has no end. The signature of a link also covers the attachment and the variant, which are in the URL's path.
struct AccessSigner: Sendable {
    private enum Kind: UInt8 { case link = 1, cookie = 2 }

    private static let signatureByteCount = HMACSHA256.byteCount
    private static let textByteCountMax = 128

    private let key: HMACSHA256

    init(key: [UInt8]) { self.key = HMACSHA256(key: key) }

    func link(to target: LinkTarget, for identity: Identity, endMs: Int64) -> String {
        let head = [Kind.link.rawValue] + Self.bytes(endMs) + Self.bytes(identity)
        return Base64.urlSafe.encode(head + key.code(of: head + Self.bytes(target)))
    }

    /// Returns the session that asked for the link. Nil for a link that is wrong, edited, or over.
    func open(link text: String, to target: LinkTarget, nowMs: Int64) -> Identity? {
        guard let (head, signature) = Self.parts(text, .link, headByteCount: 1 + 8 + 32),
            key.isValid(signature, of: head + Self.bytes(target)), nowMs < Self.number(head[1..<9])
        else { return nil }
        return Self.identity(head[9...])
    }

    func cookie(for identity: Identity) -> String {
        let head = [Kind.cookie.rawValue] + Self.bytes(identity)
        return Base64.urlSafe.encode(head + key.code(of: head))
    }

    /// Returns the session that asked for the cookie. Nil for a text that this service did not make.
    func open(cookie text: String) -> Identity? {
        guard let (head, signature) = Self.parts(text, .cookie, headByteCount: 1 + 32), key.isValid(signature, of: head)
        else { return nil }
        return Self.identity(head[1...])
    }

    // MARK: Bytes

    private static func parts(
        _ text: String, _ kind: Kind, headByteCount: Int
    ) -> (head: [UInt8], signature: [UInt8])? {
        guard text.utf8.count <= textByteCountMax, let bytes = Base64.urlSafe.decode(text),
            bytes.count == headByteCount + signatureByteCount, bytes.first == kind.rawValue
        else { return nil }
        return (Array(bytes[..<headByteCount]), Array(bytes[headByteCount...]))
    }

    private static func bytes(_ number: Int64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }

    private static func bytes<Kind>(_ id: Identifier<Kind>) -> [UInt8] {
        withUnsafeBytes(of: id.uuid.uuid) { Array($0) }
    }

    private static func bytes(_ identity: Identity) -> [UInt8] { bytes(identity.user) + bytes(identity.session) }

    private static func bytes(_ target: LinkTarget) -> [UInt8] {
        bytes(target.attachment) + [UInt8(target.variant.rawValue)]
    }

    private static func identity(_ bytes: ArraySlice<UInt8>) -> Identity {
        func id<Kind>(_ bytes: ArraySlice<UInt8>) -> Identifier<Kind> {
            var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
            return Identifier(UUID(uuid: uuid))
        }
        return Identity(user: id(bytes.prefix(16)), session: id(bytes.dropFirst(16).prefix(16)))
    }
}

/// The signer, made of the key in the database at first use and then kept.
final class AccessSigners: Sendable {
    private let store: Store
    private let known = Mutex<AccessSigner?>(nil)

    init(_ store: Store) { self.store = store }

    func current() async throws -> AccessSigner {
        if let signer = known.withLock({ $0 }) { return signer }
        let key = try await store.secret(named: "attachment_links", otherwise: RandomBytes.make(count: 32))
        let signer = AccessSigner(key: key)
        known.withLock { $0 = signer }
        return signer
    }
}
