// Reads one JSON value of an export. Exports have characters that the service cannot store, so those are replaced.
import Domain

/// Reads JSON of other systems and counts the characters that had to be replaced.
struct JSONSource {
    static let depthMax = 200

    /// - Parameters:
    ///   - file: the name of the file in the export.
    ///   - place: the line, or the entry.
    ///   - wasRepaired: set if characters were replaced.
    /// - Throws: `ConversionError` with both.
    static func read(
        _ bytes: [UInt8], file: String, place: @autoclosure () -> String, wasRepaired: inout Bool
    ) throws -> JSONValue {
        do {
            return try JSONReader.read(bytes, depthMax: depthMax)
        } catch let error where error.reason == .nulCharacter || error.reason == .loneSurrogate {
            wasRepaired = true
            do {
                return try JSONReader.read(repaired(bytes), depthMax: depthMax)
            } catch {
                throw ConversionError(file: file, place: place(), reason(error))
            }
        } catch {
            throw ConversionError(file: file, place: place(), reason(error))
        }
    }

    private static func reason(_ error: JSONError) -> String {
        let path = error.path.isEmpty ? "" : " in \(error.path)"
        return "not valid JSON at byte \(error.offset)\(path) (\(error.reason)). The export is damaged: export again."
    }

    /// Escapes of U+0000 and of single surrogates become `\ufffd`.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var text = bytes
        var at = 0
        while at + 1 < text.count {
            guard text[at] == UInt8(ascii: "\\") else {
                at += 1
                continue
            }
            guard text[at + 1] == UInt8(ascii: "u"), let unit = unit(text, at) else {
                at += 2
                continue
            }
            if UTF16.isLeadSurrogate(unit), let trail = self.unit(text, at + 6), UTF16.isTrailSurrogate(trail) {
                at += 12
                continue
            }
            if unit == 0 || UTF16.isSurrogate(unit) { text.replaceSubrange(at..<at + 6, with: Array("\\ufffd".utf8)) }
            at += 6
        }
        return text
    }

    /// The code unit of an escape `\uXXXX` at an offset.
    private static func unit(_ text: [UInt8], _ at: Int) -> UInt16? {
        guard at + 6 <= text.count, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt16(String(decoding: text[at + 2..<at + 6], as: UTF8.self), radix: 16)
    }
}
