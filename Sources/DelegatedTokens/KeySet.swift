// The keys of one file: a JSON Web Key Set (RFC 7517, 5), or a single key.
import Domain

/// The keys, and which of them may have signed a token.
package struct KeySet: Sendable {
    /// Bounds how many keys are tried for a token.
    private static let countMax = 32

    let keys: [VerificationKey]
    /// A sentence for each skipped key: RFC 7517 tells readers to ignore keys that they cannot use. Shows no key.
    package let remarks: [String]

    /// Why there are no keys, as a sentence.
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ bytes: [UInt8]) throws(Unreadable) {
        let document: JSONValue
        do {
            document = try JSONReader.read(bytes)
        } catch {
            throw Unreadable(description: "it is not JSON, from byte \(error.offset) on")
        }
        guard let listed = document["keys"]?.array ?? (document["kty"] == nil ? nil : [document]) else {
            throw Unreadable(description: "it is no JSON Web Key Set: it has no array `keys`")
        }
        guard listed.count <= Self.countMax else {
            throw Unreadable(description: "it has more than \(Self.countMax) keys")
        }
        var keys: [VerificationKey] = []
        var remarks: [String] = []
        for (index, json) in listed.enumerated() {
            do {
                keys.append(try VerificationKey(json))
            } catch {
                remarks.append("key \(index + 1) of \(listed.count) \(error.reason)")
            }
        }
        guard !keys.isEmpty else {
            let why = remarks.isEmpty ? "" : " (\(remarks.joined(separator: "; ")))"
            throw Unreadable(description: "it has no key that can be used\(why)")
        }
        self.keys = keys
        self.remarks = remarks
    }

    /// The keys of an algorithm: those with the given id, if any, and those without an id.
    func candidates(algorithm: VerificationKey.Algorithm, id: String?) -> [VerificationKey] {
        keys.filter { $0.algorithm == algorithm && (id == nil || $0.id == nil || $0.id == id) }
    }
}
