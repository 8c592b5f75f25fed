// How much of what somebody may do in which time: every limit of rate that there is, with its default. docs/limits.md has
// them as a table, which a test compares. Counting is the API's affair.

/// A bucket of `quota` tokens that an empty one takes `windowS` seconds to be filled again: a short rush may use all of it,
/// from then on there are `quota` in each window.
package struct RateLimit: Equatable, Sendable {
    /// As clients see it in `RateLimit-Policy`.
    package let name: String
    package let quota: Int
    package let windowS: Int

    package init(_ name: String, quota: Int, windowS: Int) {
        precondition(quota > 0 && windowS > 0)
        self.name = name
        self.quota = quota
        self.windowS = windowS
    }

    /// Until a token comes back, in milliseconds.
    package var stepMs: Int { max(1, windowS * 1000 / quota) }
}

extension RateLimit {
    /// Failed sign-ins of one account, whether there is such an account or not; shared by all nodes. 2,900 guesses a day.
    package static let signInsOfAccount = RateLimit("account-sign-ins", quota: 30, windowS: 900)
    /// Failed sign-ins from one address; shared by all nodes.
    package static let signInsFromAddress = RateLimit("address-sign-ins", quota: 1_000, windowS: 900)
    /// Codes mailed to one address, whether it has an account or not; shared by all nodes.
    package static let codesToMailbox = RateLimit("mailbox-codes", quota: 10, windowS: 900)
    /// Codes asked for from one address; shared by all nodes.
    package static let codesFromAddress = RateLimit("address-codes", quota: 600, windowS: 900)
    package static let registrationsFromAddress = RateLimit("address-registrations", quota: 1_000, windowS: 600)
    package static let sendsOfAccount = RateLimit("account-sends", quota: 12_000, windowS: 60)
    package static let directoryOfAccount = RateLimit("account-directory", quota: 600, windowS: 60)

    package static let all = [
        signInsOfAccount, signInsFromAddress, codesToMailbox, codesFromAddress, registrationsFromAddress,
        sendsOfAccount, directoryOfAccount,
    ]
}

extension Problem {
    /// 429.
    package static func rateLimited(_ limit: RateLimit, waitMs: Int) -> Problem {
        var problem = Problem(
            .rateLimited, "That was too often. Try again later.", retryAfterS: max(1, (waitMs + 999) / 1000))
        problem.limit = limit
        return problem
    }
}
