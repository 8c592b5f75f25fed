// Reads lines of an archive: bytes to values, with the rules of the API for each field. No I/O. What lines say together
// is checked when all are staged.
import Domain
import Store

/// Reads one line at a time. The only state is whether the archive has ended.
package struct LineParser: Sendable {
    /// The version of the format.
    private static let version: Int64 = 1

    let limits: Limits
    private var hasEnded = false

    package init(limits: Limits) { self.limits = limits }

    /// Returns the line; nil for an empty one. Throws `badLine`.
    package mutating func parse(_ bytes: ArraySlice<UInt8>, line: Int) throws(ImportFailure) -> ArchiveLine? {
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { return nil }
        guard !hasEnded else { throw .badLine(line, "The line `end` must be the last one.") }
        let parsed: ArchiveLine
        do {
            parsed = try read(bytes, line: line)
        } catch let error as JSONError {
            throw .badLine(line, Self.sentence(Problem(error)).replacing("The body", with: "The line"))
        } catch let error as Invalid {
            throw .badLine(line, Self.sentence(Problem(error)))
        } catch {
            throw .badLine(line, "\(error)")
        }
        if case .end = parsed { hasEnded = true }
        return parsed
    }

    private func read(_ bytes: ArraySlice<UInt8>, line: Int) throws -> ArchiveLine {
        // The bytes of an attachment are one long string.
        let document = try bytes.withUnsafeBufferPointer { buffer in
            try JSONReader.read(buffer.span, .init(valueCountMax: limits.jsonValueCountMax))
        }
        var fields = try Fields(document, ignoresUnknown: true)
        let type = fields.required("type", ArchiveLineType.self)
        try fields.end()
        guard let type else { throw Invalid("Must have a type.") }
        let data = document["data"] ?? .object([])
        do {
            return try read(type, data, line: line)
        } catch {
            throw error.inside("data")
        }
    }

    private func read(_ type: ArchiveLineType, _ data: JSONValue, line: Int) throws(Invalid) -> ArchiveLine {
        switch type {
        case .archive: try header(data, line: line)
        case .user: .row(.users, try user(data, line: line))
        case .block: .row(.blocks, try block(data, line: line))
        case .thread: .row(.threads, try thread(data, line: line))
        case .member: .row(.members, try member(data, line: line))
        case .message: .message(try message(data, line: line))
        case .messageVersion: .row(.versions, try version(data, line: line))
        case .reaction: .row(.reactions, try reaction(data, line: line))
        case .receipt: .row(.receipts, try receipt(data, line: line))
        case .hiddenMessage: .row(.hides, try hidden(data, line: line))
        case .attachment: .row(.attachments, try attachment(data, line: line))
        case .attachmentData: .chunk(try chunk(data, line: line))
        case .end: .end
        }
    }

    private func header(_ data: JSONValue, line: Int) throws(Invalid) -> ArchiveLine {
        guard line == 1 else { throw Invalid("The line `archive` must be the first one.") }
        var fields = try Fields(data, ignoresUnknown: true)
        let version = fields.required("version") { json throws(Invalid) in
            guard json.integer == Self.version else { throw Invalid("Must be \(Self.version).") }
            return Self.version
        }
        _ = try fields.values(version)
        return .header
    }

    /// One sentence, or a few.
    private static func sentence(_ problem: Problem) -> String {
        problem.fields.isEmpty
            ? problem.detail : problem.fields.map { "\($0.field): \($0.detail)" }.joined(separator: " ")
    }
}
