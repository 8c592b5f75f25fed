// Small types that every layer uses.

package enum ThreadKind: String, CaseIterable, Sendable { case direct, group, room }
package enum MemberRole: String, CaseIterable, Sendable { case owner, admin, member }
package enum MemberStatus: String, CaseIterable, Sendable { case invited, joined, left, removed }

/// Which part of a list a client asks for.
package struct PageRequest: Sendable {
    package static let limitDefault = 30
    package static let limitMax = 200

    package var limit: Int
    /// The end of the previous page; nil for the first page.
    package var after: PageKey?

    package init(limit: Int = Self.limitDefault, after: PageKey? = nil) {
        self.limit = limit
        self.after = after
    }
}

/// A part of a list.
package struct Page: Sendable {
    /// The largest size of all items together. A single item may be larger.
    package static let byteCountMax = 1 << 20

    package var items: [JSONText]
    /// The value of `page` for the next page; nil at the end.
    package var next: PageKey?
    package init(items: [JSONText], next: PageKey?) {
        self.items = items
        self.next = next
    }
}

/// Where a page of a thread's history begins or ends.
package enum HistoryBound: Sendable {
    case seq(Seq)
    case message(MessageID)
    /// The starting seq is that of the first message at or after this time.
    case time(microsSince1970: Int64)
}

/// The caller: a user on a device.
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
    /// The payload as `MessagePayload.text` writes it.
    package var payload: JSONText
    package var attachments: [AttachmentID]
    package var replyTo: MessageID?
    package var mentions: [UserID]
    /// Seconds after which its content expires; nil for the thread's rule.
    package var expires: KeptTime?

    package init(
        id: MessageID, thread: ThreadID, sender: UserID, type: String, payload: JSONText,
        attachments: [AttachmentID] = [], replyTo: MessageID? = nil, mentions: [UserID] = [], expires: KeptTime? = nil
    ) {
        self.id = id
        self.thread = thread
        self.sender = sender
        self.type = type
        self.payload = payload
        self.attachments = attachments
        self.replyTo = replyTo
        self.mentions = mentions
        self.expires = expires
    }
}

/// Marks of a member to move forward; nil leaves a mark where it is.
package struct ReceiptMove: Sendable {
    package var user: UserID
    /// The device that reports it.
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
