// Base64 by its published vectors.
import Basics
import Testing

@Suite("Base64", .timeLimit(.minutes(1)))
struct Base64Texts {
    @Test(
        "is RFC 4648's without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy"),
        ])
    func vector(plain: String, encoded: String) {
        #expect(Base64.standard.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.standard.decode(encoded) == Array(plain.utf8))
    }

    @Test("has one text for one value", arguments: ["Zh", "Zm9", "Z", "Zg==", "Zm9v\n", "Zm9-", "Zä"])
    func strict(text: String) {
        #expect(Base64.standard.decode(text) == nil)
    }
}
