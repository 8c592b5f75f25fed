// The limits of the contract that can be configured. Those of a single value stand beside its type.

/// Sizes in bytes of UTF-8 unless the name says otherwise.
package struct Limits: Sendable, Equatable {
    /// Of a whole request. A legal payload in which every byte is escaped takes six times its size.
    package var bodyByteCountMax = 1024 * 1024
    package var textByteCountMax = 16 * 1024
    package var payloadByteCountMax = 64 * 1024
    package var groupMemberCountMax = 1_000
    package var roomMemberCountMax = 100_000
    package var titleCharacterCountMax = 128
    package init() {}
}
