// Codes by mail: asking for one, sending it, using it.
import Domain
import Postgres

/// A mail that this node sends; its claim is a lease.
package struct ClaimedMail: Sendable {
    package var id: MailID
    /// The number of this attempt to send it, from 1.
    package var attempt: Int
    package var address: EmailAddress
    package var purpose: MailPurpose
}

/// What a mail is for.
package enum MailPurpose: String, Sendable {
    case signIn = "sign_in"
    /// Its code creates an account.
    case signUp = "sign_up"
    /// Its code makes the address an account's.
    case confirm
    /// No code: another account wants the address of its owner.
    case taken
    /// No code: the address is not the account's any more.
    case replaced

    package var hasCode: Bool { self != .taken && self != .replaced }
}

/// The next due mail, and whether it may be sent.
package enum MailClaim: Sendable {
    case send(ClaimedMail)
    /// It was not sent within its code's life.
    case expired
    /// There is no account to sign in to, or there were too many failures.
    case withheld
}

/// An account that is created when a code is used.
package struct MailedRegistration: Sendable {
    package var name: DisplayName
    package var device: DeviceName?
    /// Used when the account is created.
    package var invitation: InvitationID?

    package init(name: DisplayName, device: DeviceName?) {
        self.name = name
        self.device = device
    }
}

extension Store {
    /// Queues a mail with a code. Does the same for every address, whether or not it has an account, and returns
    /// nothing about it.
    package func askForCode(_ email: EmailAddress, registration: MailedRegistration?) async throws {
        let name = registration?.name
        try await call(
            "mail_ask",
            [
                .id(MailID.make()), .text(email.text), .text(email.key), .text(orNull: name?.text),
                name.map { .texts($0.directoryWords(with: nil)) } ?? .null, .text(orNull: registration?.device?.text),
                .uuid(orNull: registration?.invitation?.uuid),
            ])
    }

    /// How many codes of an address may be valid at a time.
    package static let codeCountMax = 2

    /// Returns the hashes of an address's valid codes, at most `codeCountMax`. Counts as an attempt.
    package func tryCode(_ email: EmailAddress) async throws -> [String] {
        try await value("mail_code_attempt", [.text(email.key)]) { try $0.texts(0) }
    }

    /// Signs in by the code with this hash; nil if the code is no longer valid. If the address has no account,
    /// throws `registration_closed`, `invitation_required` or `invitation_invalid` by the rule.
    /// - Parameter user: the id of the account, if it has to be made.
    package func useCode(
        _ email: EmailAddress, hash: String, user: UserID, session: NewSession, _ registration: RegistrationRule
    ) async throws -> SignedIn? {
        try await firstRow(
            "mail_code_use",
            [.text(email.key), .text(hash), .id(user)] + session.parameters
                + [.int(session.accountCountMax), .text(registration.rawValue)]
        ) { try $0.signedIn() }
    }
}

extension Store {
    /// Claims the next due mail; nil when none is due.
    /// - Parameters:
    ///   - registration: codes that would create an account against this rule are withheld.
    ///   - leaseSeconds: for how long no other node claims it.
    package func claimMail(_ registration: RegistrationRule, leaseSeconds: Int) async throws -> MailClaim? {
        let rows = try await rows("mail_claim", [.int(leaseSeconds), .text(registration.rawValue)])
        return try await decoded {
            guard let row = rows.first else { return nil }
            switch try row.text(0) {
            case "send":
                let text = try row.text(4)
                guard let purpose = MailPurpose(rawValue: text) else {
                    throw PostgresError.decoding("the purpose of a mail: \(text)")
                }
                return .send(
                    ClaimedMail(
                        id: MailID(try row.uuid(1)), attempt: Int(try row.int4(2)),
                        address: try EmailAddress(text: try row.text(3)), purpose: purpose))
            case "withheld": return .withheld
            default: return .expired
            }
        }
    }

    /// Makes a code valid for a mail's address, by its hash, unless it is nil, and renews the lease.
    /// - Returns: false if the mail must not be sent.
    package func putCode(_ mail: ClaimedMail, hash: String?, leaseSeconds: Int) async throws -> Bool {
        try await value(
            "mail_code_put",
            [
                .id(mail.id), .int(mail.attempt), .text(mail.address.text), .text(orNull: hash),
                .int(leaseSeconds),
            ]
        ) { try $0.bool(0) }
    }

    /// Records that a mail was sent, or will not be; or, with `again`, that it will be retried after that time. Returns
    /// whether it will be retried. The call runs to its end even if its task is cancelled.
    package func settleMail(_ mail: ClaimedMail, again: Duration?) async throws -> Bool {
        try await finishing.value(
            "mail_settle",
            [.id(mail.id), .int(mail.attempt), again.map { .int4(Int32($0 / .seconds(1))) } ?? .null]
        ) { try $0.bool(0) }
    }

    /// Deletes addresses for which no code was requested lately. Returns how many.
    package func sweepMail(limit: Int) async throws -> Int {
        try await value("mail_sweep", [.int(limit)]) { Int(try $0.int4(0)) }
    }
}
