// The limits of the contract that can be configured. Those of a single value stand beside its type.

/// What becomes of members who are named by somebody that they share no thread with.
package enum StrangerRule: String, CaseIterable, Sendable {
    /// They are added.
    case join
    /// They are invited.
    case invite
}

/// Sizes in bytes of UTF-8 unless the name says otherwise.
package struct Limits: Sendable, Equatable {
    /// Of a request with a message. A legal payload in which every byte is escaped takes six times its size.
    package var bodyByteCountMax = 1024 * 1024
    package var textByteCountMax = 16 * 1024
    package var payloadByteCountMax = 64 * 1024
    package var groupMemberCountMax = 1_000
    package var roomMemberCountMax = 100_000
    /// Threads that an account has joined or is invited to.
    package var accountThreadCountMax = 5_000
    package var strangers = StrangerRule.join
    package var titleCharacterCountMax = 128
    /// Sessions of an account; one more ends the one unused for longest.
    package var accountSessionCountMax = 100
    /// What `accountSessionCountMax` may be set to: as many sessions end in one transaction.
    package static let accountSessionCountCeiling = 1_000
    /// Sign-ins by password or code to one account, and from one address, under way on a node: hashed or in line for it.
    package var accountSignInCountMax = 2
    package var addressSignInCountMax = 8
    /// The longest wait between two wrong passwords of one account.
    package var signInWaitMaxS = 300
    /// Different accounts, or addresses, whose sign-ins fail on a node within a minute, from which on the log warns.
    package var signInAlarmCount = 100
    /// Searches of one account that run at once on a node.
    package var accountSearchCountMax = 2
    /// After which a search ends with what it has found so far.
    package var searchTimeoutMs = 1_000
    /// Of any other request: enough to name all members of a group. Small, since anyone may send one and it is parsed whole.
    package var plainBodyByteCountMax: Int { max(64 * 1024, 64 * groupMemberCountMax) }
    /// Values in the JSON of a body, keys of objects not counted: more than the largest payload can hold.
    package var jsonValueCountMax: Int { max(payloadByteCountMax, plainBodyByteCountMax) / 2 + 8 * 1024 }
    package init() {}
}
