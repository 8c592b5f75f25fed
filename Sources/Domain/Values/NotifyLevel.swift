// Which messages of a thread alert a member, on all of their devices.

package enum NotifyLevel: String, CaseIterable, Sendable {
    case all
    /// Those that mention the member.
    case mentions
    case none

    /// As the database has it: nothing for the usual level.
    package var stored: String? { self == .all ? nil : rawValue }
}

extension NotifyLevel: WordField {}
