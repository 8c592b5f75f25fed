// The parameters of the changes feed.

/// The name of a consumer of the changes feed, whose cursor the service keeps.
package struct ConsumerName: Hashable, Sendable, TextField {
    package static let characterCountMax = 64
    /// Consumers of a service.
    package static let countMax = 100

    package let text: String

    package init(text: String) throws(Invalid) {
        let others = "._-".utf8
        let isPlain = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || others.contains(byte)
        }
        guard isPlain, (1...Self.characterCountMax).contains(text.utf8.count) else {
            throw Invalid("Must have 1 to \(Self.characterCountMax) characters out of a-z, 0-9, `.`, `_` and `-`.")
        }
        self.text = text
    }
}

/// Some types of events.
package struct EventTypes: Equatable, Sendable, TextField {
    package let types: Set<EventType>

    /// Reads words separated by commas.
    package init(text: String) throws(Invalid) {
        var types: Set<EventType> = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = EventType(rawValue: String(word)) else {
                throw Invalid("Must be one or more of these, separated by commas: \(Self.all).")
            }
            types.insert(type)
        }
        self.types = types
    }

    /// Reads an array of words.
    package init(_ json: JSONValue) throws(Invalid) {
        let types = try json.entries(countMax: EventType.allCases.count) { entry throws(Invalid) in
            guard let word = entry.string, let type = EventType(rawValue: word) else {
                throw Invalid("Must be one of: \(Self.all).")
            }
            return type
        }
        guard !types.isEmpty else { throw Invalid("Must have at least one entry.") }
        self.types = Set(types)
    }

    private static var all: String { EventType.allCases.map(\.rawValue).joined(separator: ", ") }
}

/// Where a reader of the changes feed begins.
package enum ChangesStart: Equatable, Sendable {
    /// At the end of the log.
    case head
    case cursor(Cursor)
    case time(Timestamp)
    /// Where the consumer's last acknowledgement says.
    case consumer(ConsumerName)
}

/// The parameters of `GET /v1/admin/changes`.
package struct ChangesQuery: Equatable, Sendable {
    package static let limitDefault = 100

    package var start = ChangesStart.head
    /// It is nil for all.
    package var types: Set<EventType>?
    package var limit: Int
    /// Seconds; nil if the parameter is absent.
    package var waitS: Int?

    /// Reads a query as sent, without its `?`. Throws 422 with every mistake.
    package init(_ query: Substring) throws(Problem) {
        var fields = Fields(query: query)
        if let cursor = fields.optional("cursor", Cursor.self) { start = .cursor(cursor) }
        if let time = fields.optional("since", Timestamp.self) { start = .time(time) }
        if let consumer = fields.optional("consumer", ConsumerName.self) { start = .consumer(consumer) }
        if fields.has("since"), fields.has("cursor") {
            fields.refuse("since", "Must not be given together with `cursor`.")
        }
        if fields.has("consumer"), fields.has("cursor") || fields.has("since") {
            fields.refuse("consumer", "Must not be given together with `cursor` or `since`.")
        }
        types = fields.optional("types", EventTypes.self)?.types
        waitS = fields.given("wait", SyncQuery.waitS)
        limit = fields.limit(default: Self.limitDefault)
        do {
            try fields.end()
        } catch {
            throw .invalid(error.fields)
        }
    }
}
