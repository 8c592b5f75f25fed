// What the readers of the systems hand to the builder: people, conversations, messages, files, in one form.
import Domain

/// An account of the other system. Every text may be one that Parley does not accept.
struct SourcePerson {
    /// The id in the export.
    var source: String
    var username: String?
    /// The first that Parley accepts is used.
    var names: [String?]
    var email: String?
    var statusText: String?
    var isBot = false
    var isSuspended = false
    var createdAt: Timestamp?
}

struct SourceMember {
    var user: UserID
    var role = MemberRole.member
}

struct SourceThread {
    var source: String
    var kind: ThreadKind
    /// Only rooms and groups have a title.
    var title: String?
    var topic: String?
    var createdAt: Timestamp
    var members: [SourceMember]
    var isArchived = false
}

struct SourceMessage {
    /// The id in the export, unique among all messages of the export.
    var source: String
    var sender: UserID
    var text: String
    var createdAt: Timestamp
    var editedAt: Timestamp?
    var replyTo: MessageID?
    var mentions: [UserID] = []
    var reactions: [SourceReaction] = []
    var files: [SourceFile] = []
    /// More members of the payload.
    var extra: [JSONValue.Member] = []
}

struct SourceReaction {
    var emoji: Emoji
    var user: UserID
    /// It is nil for the message's time: most systems do not record it.
    var createdAt: Timestamp?
}

struct SourceFile {
    /// The id in the export, or the path.
    var source: String
    var name: String
    var mediaType: String?
    /// Within the export; nil if the bytes are not in it.
    var path: String?
    /// Where the other system has it.
    var url: String?
}
