// A mail as it is sent: headers (RFC 5322) and two bodies, of which the reader's program shows one (RFC 2046, 5.1.4).
import Basics
import Glibc

/// A sender or recipient: an address in ASCII, and an optional name in any script.
package struct MailAddress: Sendable, Equatable {
    package let name: String?
    package let address: String

    /// Returns nil for an address that could break out of its header or of the envelope.
    package init?(name: String? = nil, address: String) {
        let isPlain = address.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"<>\",;:()\\".utf8.contains($0) }
        guard isPlain, address.utf8.count(where: { $0 == UInt8(ascii: "@") }) == 1 else { return nil }
        self.name = name
        self.address = address
    }

    /// The part after the @.
    package var domain: Substring {
        address[address.index(after: address.firstIndex(of: "@") ?? address.startIndex)...]
    }

    var header: String {
        guard let name, !name.isEmpty else { return address }
        return "\(HeaderText.phrase(name)) <\(address)>"
    }
}

package struct MailMessage: Sendable {
    package var from: MailAddress
    package var to: MailAddress
    package var subject: String
    /// The part of the Message-ID before the @: letters, digits, points and hyphens. Each content has its own.
    package var id: String
    /// Seconds since 1970.
    package var time: Int
    /// The same content twice, as plain text and as HTML. Lines end in `\n`.
    package var text: String
    package var html: String

    package init(
        from: MailAddress, to: MailAddress, subject: String, id: String, time: Int, text: String, html: String
    ) {
        self.from = from
        self.to = to
        self.subject = subject
        self.id = id
        self.time = time
        self.text = text
        self.html = html
    }

    /// Headers and bodies, in lines of ASCII that end in CRLF.
    package var bytes: [UInt8] {
        // Quoted-printable never produces "=_", so no line of a body equals the boundary.
        let boundary = "=_" + String((0..<24).map { _ in Character(Unicode.Scalar(UInt8.random(in: 0x61...0x7a))) })
        let head = [
            "Date: \(Self.date(time))",
            "From: \(from.header)",
            "To: \(to.header)",
            "Subject: \(HeaderText.unstructured(subject))",
            "Message-ID: <\(id)@\(from.domain)>",
            // RFC 3834: automatic responders don't answer.
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative; boundary=\"\(boundary)\"",
            "",
        ]
        let parts = [("plain", text), ("html", html)].flatMap { subtype, content in
            [
                "--\(boundary)",
                "Content-Type: text/\(subtype); charset=utf-8",
                "Content-Transfer-Encoding: quoted-printable",
                "",
            ] + QuotedPrintable.lines(content)
        }
        let lines = head + parts + ["--\(boundary)--", ""]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// RFC 5322, 3.3, in UTC.
    static func date(_ time: Int) -> String {
        let time = CivilTime(secondsSince1970: time)
        return "\(time.weekdayName), \(time.day) \(time.monthName) \(time.year) \(time.timeOfDay) +0000"
    }
}
