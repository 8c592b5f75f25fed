// The small words and shapes that every layer shares.

/// A ready JSON value as UTF-8: made by the database or by the JSON writer, handed on untouched.
package struct JSONText: Hashable, Sendable {
    package let utf8: [UInt8]
    package init(utf8: [UInt8]) { self.utf8 = utf8 }
}

package enum ThreadKind: String, CaseIterable, Sendable { case direct, group, room }
package enum MemberRole: String, CaseIterable, Sendable { case owner, admin, member }
package enum MemberStatus: String, CaseIterable, Sendable { case invited, joined, left, removed }

/// Which part of a list is wanted.
package struct PageRequest: Sendable {
    package static let limitDefault = 30
    package static let limitMax = 200

    package var limit: Int
    /// Where the page before this one ended; nil for the first.
    package var after: PageKey?

    package init(limit: Int = Self.limitDefault, after: PageKey? = nil) {
        self.limit = limit
        self.after = after
    }
}

/// A part of a list.
package struct Page: Sendable {
    /// Of the items together, unless there is only one.
    package static let byteCountMax = 1 << 20

    package var items: [JSONText]
    /// What to ask for to go on; nil at the end.
    package var next: PageKey?
    package init(items: [JSONText], next: PageKey?) {
        self.items = items
        self.next = next
    }
}

/// Where a page of a thread's archive begins or ends, as a client may say it.
package enum ArchiveBound: Sendable {
    case seq(Seq)
    case message(MessageID)
    /// Picks the starting seq: the first message at or after this instant.
    case time(microsSince1970: Int64)
}

/// Who is asking, from which device.
package struct Identity: Hashable, Sendable {
    package var user: UserID
    package var session: SessionID
    package init(user: UserID, session: SessionID) {
        self.user = user
        self.session = session
    }
}

/// A message to be appended; its type and payload have been checked.
package struct NewMessage: Sendable {
    package var id: MessageID
    package var thread: ThreadID
    package var sender: UserID
    package var type: String
    package var payload: JSONText
    package var replyTo: MessageID?
    package var mentions: [UserID]
    /// After how long its content goes; nil leaves that to the thread.
    package var expires: KeptTime?

    package init(
        id: MessageID, thread: ThreadID, sender: UserID, type: String, payload: JSONText, replyTo: MessageID? = nil,
        mentions: [UserID] = [], expires: KeptTime? = nil
    ) {
        self.id = id
        self.thread = thread
        self.sender = sender
        self.type = type
        self.payload = payload
        self.replyTo = replyTo
        self.mentions = mentions
        self.expires = expires
    }
}

/// A member's marks to be moved forward; nil leaves one where it is.
package struct ReceiptMove: Sendable {
    package var user: UserID
    /// The device that says so.
    package var session: SessionID?
    package var thread: ThreadID
    package var read: Seq?
    package var delivered: Seq?

    package init(
        user: UserID, session: SessionID? = nil, thread: ThreadID, read: Seq? = nil, delivered: Seq? = nil
    ) {
        self.user = user
        self.session = session
        self.thread = thread
        self.read = read
        self.delivered = delivered
    }
}
