// The configurable limits of the contract. The limits of a single value are next to its type.

/// The rule for users who name members with whom they share no thread.
package enum StrangerRule: String, CaseIterable, Sendable {
    /// They are added.
    case join
    /// They are invited.
    case invite
}

/// Who may create an account by password or by e-mail.
package enum RegistrationRule: String, CaseIterable, Sendable {
    case open
    /// Those with an invitation of the operator.
    case invited
    case closed
}

/// Whom the directory finds.
package enum DirectoryRule: String, CaseIterable, Sendable {
    case everyone
    /// People who share a thread with the caller.
    case shared
    /// Nobody.
    case off
}

/// Sizes in bytes of UTF-8 unless the name says otherwise.
package struct Limits: Sendable, Equatable {
    /// For a request with a message. A valid payload in which every byte is escaped takes six times its size.
    package var bodyByteCountMax = 1024 * 1024
    package var textByteCountMax = 16 * 1024
    package var payloadByteCountMax = 64 * 1024
    package var groupMemberCountMax = 1_000
    package var roomMemberCountMax = 100_000
    /// Threads that an account has joined or is invited to.
    package var accountThreadCountMax = 5_000
    package var strangers = StrangerRule.join
    package var directory = DirectoryRule.everyone
    /// The longest time for which a thread keeps messages. 0: any time.
    package var retentionMaxS = 0
    /// The retention of a thread that is made without one. 0: the longest time.
    package var retentionDefaultS = 0
    package var titleCharacterCountMax = 128
    /// Sessions of an account. One more ends the session that was unused for longest.
    package var accountSessionCountMax = 100
    /// The largest value of `accountSessionCountMax`: as many sessions end in one transaction.
    package static let accountSessionCountCeiling = 1_000
    /// Sign-ins by password or code of one account, or from one address, that a node hashes or has in line.
    package var accountSignInCountMax = 2
    package var addressSignInCountMax = 8
    /// The longest wait between two wrong passwords of one account.
    package var signInWaitMaxS = 300
    /// Different accounts, or addresses, with failing sign-ins on a node within a minute, from which the log warns.
    package var signInAlarmCount = 100
    /// Searches of one account that run at once on a node.
    package var accountSearchCountMax = 2
    /// The largest attachment.
    package var attachmentByteCountMax = 50 * 1024 * 1024
    /// Stored bytes of the attachments of one account.
    package var attachmentQuotaByteCount = 1024 * 1024 * 1024
    /// Uploads in progress on a node: of all accounts, and of one, which may send the ten files of a message at once.
    package var uploadCountMax = 64
    package var accountUploadCountMax = 16
    /// Downloads in progress on a node: of all accounts, and of one.
    package var downloadCountMax = 256
    package var accountDownloadCountMax = 16
    /// Attachments of one account that no message uses, unfinished uploads included.
    package var unusedAttachmentCountMax = 1_000
    /// The time after which the service deletes an unused attachment, and an unfinished upload that receives nothing.
    package var unusedAttachmentHours = 24
    /// The time after which a search returns what it has found so far.
    package var searchTimeoutMs = 1_000
    /// For any other request: enough to name all members of a group. Small, because anyone may send one and all of it
    /// is parsed.
    package var plainBodyByteCountMax: Int { max(64 * 1024, 64 * groupMemberCountMax) }
    /// Values in the JSON of a body, without keys of objects: more than the largest payload can hold.
    package var jsonValueCountMax: Int { max(payloadByteCountMax, plainBodyByteCountMax) / 2 + 8 * 1024 }
    package init() {}
}
