// Encodes text that is not plain ASCII, or not safe, as lines of ASCII in a mail. No text can produce a line break in a
// header.
import FoundationEssentials

enum HeaderText {
    /// Longer texts would have to be folded.
    private static let plainByteCountMax = 60
    /// Bytes of UTF-8 in an encoded word, which has at most 75 characters (RFC 2047, 2), 12 of them around the base64.
    private static let wordByteCountMax = 45

    /// Encodes the value of a header of free text.
    static func unstructured(_ text: String) -> String { isPlain(text) ? text : encodedWords(text) }

    /// For a name before an address: a quoted string if that is enough.
    static func phrase(_ text: String) -> String {
        guard isPlain(text) else { return encodedWords(text) }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// A text that looks like an encoded word is encoded, too, so that it is shown unchanged.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= plainByteCountMax && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            && !text.contains("=?")
    }

    /// RFC 2047. Each word holds whole characters and has a line of its own.
    private static func encodedWords(_ text: String) -> String {
        var words: [String] = []
        var word = ""
        for scalar in text.unicodeScalars {
            if word.utf8.count + String(scalar).utf8.count > wordByteCountMax {
                words.append(word)
                word = ""
            }
            word.unicodeScalars.append(scalar)
        }
        return (words + [word]).map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}

/// RFC 2045, 6.7: lines of at most 76 characters. ASCII text stays readable.
enum QuotedPrintable {
    private static let lineCharacterCountMax = 76

    static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { broken(encoded(Array($0.utf8))) }
    }

    /// Returns each byte's encoding.
    private static func encoded(_ line: [UInt8]) -> [String] {
        line.enumerated().map { index, byte in
            // Relays remove white space at the end of a line.
            let isPlain = (0x21...0x7e).contains(byte) || (byte == 0x20 && index < line.count - 1)
            if isPlain && byte != UInt8(ascii: "=") { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "=0\(digits)" : "=\(digits)"
        }
    }

    private static func broken(_ pieces: [String]) -> [String] {
        var lines = [""]
        for piece in pieces {
            // One character is for the sign that the line continues.
            if lines[lines.count - 1].utf8.count + piece.utf8.count >= lineCharacterCountMax {
                lines[lines.count - 1] += "="
                lines.append("")
            }
            lines[lines.count - 1] += piece
        }
        return lines
    }
}
