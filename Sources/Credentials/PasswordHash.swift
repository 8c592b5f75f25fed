// A stored password: scrypt's parameters, salt and hash as one line of text, and the computation. PasswordHasher
// decides when and on which thread it runs.

import Basics
import Cryptography

/// scrypt's cost (RFC 7914): memory is 128 · 2^`logN` · `r` bytes, time goes with memory times `p`.
package struct ScryptCost: Sendable, Equatable {
    package var logN: Int
    package var r: Int
    package var p: Int

    package init(logN: Int, r: Int, p: Int) {
        self.logN = logN
        self.r = r
        self.p = p
    }

    /// Measured on one core of an AMD EPYC, OpenSSL 3.0, r = 8, p = 1: logN 13: 17 ms, 14: 30 ms, **15: 72 ms**, 16:
    /// 153 ms, 17: 310 ms. 15 (32 MiB) keeps a sign-in below 0.1 s. OWASP recommends three to four times that (logN 15
    /// with p 3, or 17 with p 1). A stored hash of another cost is replaced at the next sign-in.
    package static let standard = ScryptCost(logN: 15, r: 8, p: 1)

    /// The most that is computed: a stored line cannot ask for more than 256 MiB or for hours.
    var isAcceptable: Bool {
        (1...20).contains(logN) && (1...32).contains(r) && (1...16).contains(p) && memoryByteCount <= 256 << 20
    }

    var memoryByteCount: Int { (128 * r) << logN }

    /// What this cost takes longer than another, as a cost of its own, to within half a step of `r`. Nil if the other
    /// takes as long or longer.
    func less(_ other: ScryptCost) -> ScryptCost? {
        let others = Double(other.r * other.p << other.logN) / Double(p << logN)
        let rest = r - Int(others.rounded())
        return rest > 0 ? ScryptCost(logN: logN, r: rest, p: p) : nil
    }
}

/// `$scrypt$ln=15,r=8,p=1$salt$hash`, both in base64 without padding: the PHC string format, as passlib writes it.
struct PasswordHash: Sendable, Equatable {
    static let saltByteCount = 16
    static let keyByteCount = 32

    let cost: ScryptCost
    let salt: [UInt8]
    let key: [UInt8]

    /// Hashes a password with a new salt. Blocks for as long as the cost says.
    static func make(_ password: String, cost: ScryptCost) throws -> PasswordHash {
        let salt = RandomBytes.make(count: saltByteCount)
        let key = try scrypt(Array(password.utf8), salt: salt, cost: cost, byteCount: keyByteCount)
        return PasswordHash(cost: cost, salt: salt, key: key)
    }

    /// Whether it is the hash of this password. Blocks equally long for a wrong and for the right one.
    func matches(_ password: String) throws -> Bool {
        let candidate = try Self.scrypt(Array(password.utf8), salt: salt, cost: cost, byteCount: key.count)
        return ConstantTime.areEqual(candidate, key)
    }

    /// - Throws: `CredentialsError.malformedHash`.
    init(parsing text: String) throws {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt",
            let cost = Self.cost(parts[2]), cost.isAcceptable,
            let salt = Base64.standard.decode(parts[3]), (8...64).contains(salt.count),
            let key = Base64.standard.decode(parts[4]), (16...64).contains(key.count)
        else { throw CredentialsError.malformedHash }
        self.init(cost: cost, salt: salt, key: key)
    }

    init(cost: ScryptCost, salt: [UInt8], key: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.key = key
    }

    var text: String {
        "$scrypt$ln=\(cost.logN),r=\(cost.r),p=\(cost.p)"
            + "$\(Base64.standard.encode(salt))$\(Base64.standard.encode(key))"
    }

    private static func cost(_ text: Substring) -> ScryptCost? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let numbers = zip(fields, ["ln=", "r=", "p="]).compactMap { field, name in
            field.hasPrefix(name) ? Int(field.dropFirst(name.count)) : nil
        }
        return numbers.count == 3 ? ScryptCost(logN: numbers[0], r: numbers[1], p: numbers[2]) : nil
    }

    /// RFC 7914. Blocks; allocates the cost's memory and frees it.
    static func scrypt(_ password: [UInt8], salt: [UInt8], cost: ScryptCost, byteCount: Int) throws -> [UInt8] {
        try Scrypt.key(password, salt: salt, logN: cost.logN, r: cost.r, p: cost.p, byteCount: byteCount)
    }
}
