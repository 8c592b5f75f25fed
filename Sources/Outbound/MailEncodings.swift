// How text that isn't plain ASCII, or isn't safe, becomes lines of ASCII in a mail. Nothing that goes in as text comes out
// as a line break of a header.
import Foundation

enum HeaderText {
    /// A text of more would have to be folded.
    private static let plainByteCountMax = 60
    /// Bytes of UTF-8 in an encoded word, which has at most 75 characters (RFC 2047, 2), 12 of them around the base64.
    private static let wordByteCountMax = 45

    /// For a header of free text.
    static func unstructured(_ text: String) -> String { isPlain(text) ? text : encodedWords(text) }

    /// For a name before an address: a quoted string, where it needs no more.
    static func phrase(_ text: String) -> String {
        guard isPlain(text) else { return encodedWords(text) }
        return "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// What looks like an encoded word already is encoded, too, so that it is shown as it stands.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= plainByteCountMax && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
            && !text.contains("=?")
    }

    /// RFC 2047. Each word holds whole characters, and stands in a line of its own.
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

/// RFC 2045, 6.7: lines of at most 76 characters, read by people as they are where the text is ASCII.
enum QuotedPrintable {
    private static let lineCharacterCountMax = 76

    static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { broken(encoded(Array($0.utf8))) }
    }

    /// Each byte as it is written.
    private static func encoded(_ line: [UInt8]) -> [String] {
        line.enumerated().map { index, byte in
            // White space at the end of a line is lost on the way.
            let isPlain = (0x21...0x7e).contains(byte) || (byte == 0x20 && index < line.count - 1)
            if isPlain && byte != UInt8(ascii: "=") { return String(Unicode.Scalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "=0\(digits)" : "=\(digits)"
        }
    }

    private static func broken(_ pieces: [String]) -> [String] {
        var lines = [""]
        for piece in pieces {
            // One character is the sign that the line goes on.
            if lines[lines.count - 1].utf8.count + piece.utf8.count >= lineCharacterCountMax {
                lines[lines.count - 1] += "="
                lines.append("")
            }
            lines[lines.count - 1] += piece
        }
        return lines
    }
}
