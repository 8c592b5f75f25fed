// Reads one JSON value of an export. Exports have characters that the service cannot store, so those are replaced.
import Domain

/// Reads JSON of other systems and counts the characters that had to be replaced.
struct JSONSource {
    private static let rules = JSONRules(depthMax: 200, characters: .replaced)

    /// - Parameters:
    ///   - file: the name of the file in the export.
    ///   - place: the line, or the entry.
    ///   - wasRepaired: set if characters were replaced.
    /// - Throws: `ConversionError` with both.
    static func read(
        _ bytes: [UInt8], file: String, place: @autoclosure () -> String, wasRepaired: inout Bool
    ) throws -> JSONValue {
        var reader = JSONReader(rules)
        do {
            let value = try reader.document(bytes.span)
            wasRepaired = wasRepaired || reader.hasReplaced
            return value
        } catch {
            throw ConversionError(file: file, place: place(), reason(error))
        }
    }

    private static func reason(_ error: JSONError) -> String {
        let path = error.path.isEmpty ? "" : " in \(error.path)"
        return "not valid JSON at byte \(error.offset)\(path) (\(error.reason)). The export is damaged: export again."
    }
}
