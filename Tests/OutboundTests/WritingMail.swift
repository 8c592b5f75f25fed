// Mails as bytes: what a mail contains, and what no name or subject may inject.
import Foundation
import Testing

@testable import Outbound

@Suite("Writing mail", .timeLimit(.minutes(1)))
struct WritingMail {
    private func message(
        name: String? = "Parley", subject: String = "Your code", text: String = "Hello\n", html: String = "<p>Hello\n"
    ) throws -> [String] {
        let message = MailMessage(
            from: try #require(MailAddress(name: name, address: "chat@a.example")),
            to: try #require(MailAddress(address: "ann@b.example")), subject: subject, id: "1.a", time: 1_795_252_903,
            text: text, html: html)
        return String(decoding: message.bytes, as: UTF8.self).components(separatedBy: "\r\n")
    }

    @Test("has every header once, then the same content as text and as HTML")
    func whole() throws {
        let lines = try message()
        let boundary = try #require(lines.compactMap { $0.firstMatch(of: /boundary="([^"]+)"/) }.first).1
        #expect(
            lines == [
                "Date: Sat, 21 Nov 2026 09:21:43 +0000", "From: \"Parley\" <chat@a.example>", "To: ann@b.example",
                "Subject: Your code", "Message-ID: <1.a@a.example>", "Auto-Submitted: auto-generated",
                "MIME-Version: 1.0", "Content-Type: multipart/alternative; boundary=\"\(boundary)\"", "",
                "--\(boundary)", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: quoted-printable", "", "Hello", "", "--\(boundary)",
                "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
                "<p>Hello", "", "--\(boundary)--", "",
            ])
    }

    @Test(
        "lets no name or subject inject a header",
        arguments: [
            "x\r\nBcc: b@c.example", "x\nBcc: b@c.example", "x\rBcc: b@c.example", "x\u{0}y", "x\r\n\r\n<script>",
            "x\u{2028}Bcc: b@c.example", "\" <b@c.example>, \"",
        ])
    func injection(_ text: String) throws {
        let lines = try message(name: text, subject: text)
        let head = lines.prefix { !$0.isEmpty }
        #expect(!head.contains { $0.hasPrefix("Bcc") })
        let names = head.filter { !$0.hasPrefix(" ") }.map { $0.prefix { $0 != ":" } }
        #expect(
            names == [
                "Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
            ])
        #expect(head.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } })
    }

    @Test(
        "rejects an address that could be several, or that could end its header",
        arguments: [
            "a@b.example\r\nBcc: c@d.example", "a@b.example, c@d.example", "<a@b.example>", "a b@c.example",
            "é@b.example",
            "a@b@c.example", "nobody", "\"a\"@b.example", "",
        ])
    func badAddresses(_ text: String) { #expect(MailAddress(address: text) == nil) }

    @Test("writes names of other scripts as encoded words of at most 75 characters")
    func otherScripts() throws {
        let name = String(repeating: "Пошта 📬 ", count: 6)
        let lines = try message(name: name)
        let start = try #require(lines.firstIndex { $0.hasPrefix("From: ") })
        var folded = [lines[start]]
        for line in lines[(start + 1)...] {
            guard line.hasPrefix(" ") else { break }
            folded.append(line)
        }
        #expect(folded.count > 2 && folded.last?.hasSuffix(" <chat@a.example>") == true)
        let words = folded.joined().matches(of: /=\?utf-8\?B\?([A-Za-z0-9+\/=]+)\?=/)
        #expect(words.allSatisfy { $0.output.0.count <= 75 })
        #expect(
            words.map { String(decoding: Data(base64Encoded: String($0.1)) ?? Data(), as: UTF8.self) }.joined() == name)
    }

    @Test("writes bodies in lines of at most 76 characters, from which the text comes back")
    func bodies() {
        let text =
            "1 + 1 = 2 \n.\n" + String(repeating: "Grüße, ", count: 30) + "\n\ttab \n"
            + String(repeating: "x", count: 76)
        let lines = QuotedPrintable.lines(text)
        #expect(lines.allSatisfy { $0.utf8.count <= 76 && $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } })
        #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
        let joined = lines.joined(separator: "\n").replacing("=\n", with: "")
        var bytes: [UInt8] = []
        var rest = joined.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}
