// Formats a log event as one line. LogOutput.swift writes the line.
import Basics
internal import Logging

/// The formats of a log line. Each returns one line with its newline. Control characters are escaped, so that logged
/// values cannot forge a line.
enum LogLine {
    /// `2026-11-21T10:00:00.123Z warning parley.log: The connection is gone. attempt=3 host=db`
    static func text(
        _ time: String, _ level: Logger.Level, _ label: String, _ message: Logger.Message, _ metadata: Logger.Metadata
    ) -> String {
        var line = "\(time) \(level) \(label): "
        append(plain: message.description, to: &line)
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line += " "
            append(plain: key, to: &line)
            line += "="
            let text = "\(value)"
            if text.isEmpty || text.contains(where: { $0 == " " || $0 == "\"" }) {
                append(string: text, to: &line)
            } else {
                append(plain: text, to: &line)
            }
        }
        return line + "\n"
    }

    /// `{"time":"…","level":"warning","logger":"parley.log","message":"…","metadata":{"attempt":"3","host":"db"}}`
    static func json(
        _ time: String, _ level: Logger.Level, _ label: String, _ message: Logger.Message, _ metadata: Logger.Metadata
    ) -> String {
        var line = "{\"time\":\"\(time)\",\"level\":\"\(level)\",\"logger\":"
        append(string: label, to: &line)
        line += ",\"message\":"
        append(string: message.description, to: &line)
        if !metadata.isEmpty {
            line += ",\"metadata\":"
            append(metadata, to: &line)
        }
        return line + "}\n"
    }

    private static func append(_ metadata: Logger.Metadata, to line: inout String) {
        var separator = "{"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
            line += separator
            separator = ","
            append(string: key, to: &line)
            line += ":"
            append(value, to: &line)
        }
        line += metadata.isEmpty ? "{}" : "}"
    }

    private static func append(_ value: Logger.MetadataValue, to line: inout String) {
        switch value {
        case .string(let text): append(string: text, to: &line)
        case .stringConvertible(let object): append(string: object.description, to: &line)
        case .dictionary(let metadata): append(metadata, to: &line)
        case .array(let values):
            line += "["
            for (index, value) in values.enumerated() {
                if index > 0 { line += "," }
                append(value, to: &line)
            }
            line += "]"
        }
    }

    /// Appends a JSON string. Invisible characters that JSON allows are escaped as well.
    private static func append(string text: String, to line: inout String) {
        var string: [UInt8] = []
        string.appendJSONString(text)
        append(plain: String(decoding: string, as: UTF8.self), to: &line)
    }

    private static func append(plain text: String, to line: inout String) {
        for scalar in text.unicodeScalars { append(scalar, to: &line) }
    }

    /// Itself, or `\n`, or `\u00xx`. U+2028 and U+2029 end a line for some readers.
    private static func append(_ scalar: Unicode.Scalar, to line: inout String) {
        switch scalar {
        case "\n": line += "\\n"
        case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
            let hexadecimal = String(scalar.value, radix: 16)
            line += "\\u" + String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
        default: line.unicodeScalars.append(scalar)
        }
    }
}
