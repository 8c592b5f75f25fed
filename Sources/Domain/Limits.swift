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
    /// Of any other request: enough to name all members of a group. Small, since anyone may send one and it is parsed whole.
    package var plainBodyByteCountMax: Int { max(64 * 1024, 64 * groupMemberCountMax) }
    /// Values in the JSON of a body, keys of objects not counted: more than the largest payload can hold.
    package var jsonValueCountMax: Int { max(payloadByteCountMax, plainBodyByteCountMax) / 2 + 8 * 1024 }
    package init() {}
}
