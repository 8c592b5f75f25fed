// The limits per time: each with its name, its default quota and what it counts. docs/limits.md shows them as a table,
// which a test compares with this file. Each quota is a setting (``RateQuotas``). Counting is the API's job.

/// A bucket of `quota` tokens. An empty bucket is full again after `windowS` seconds: a short rush may use all tokens,
/// and from then on `quota` of them come back in each window.
package struct RateLimit: Hashable, Sendable {
    package enum Scope: Sendable {
        /// Each node counts for itself.
        case node
        /// All nodes count together, in the database.
        case service
    }

    /// As clients see it in `RateLimit-Policy`.
    package let name: String
    package let quota: Int
    package let windowS: Int
    package let scope: Scope
    /// The counted actions, as a phrase: "messages sent by one account".
    package let subject: String

    package init(_ name: String, quota: Int, windowS: Int, _ scope: Scope = .node, _ subject: String = "") {
        precondition(quota > 0 && windowS > 0)
        self.name = name
        self.quota = quota
        self.windowS = windowS
        self.scope = scope
        self.subject = subject
    }

    /// Until a token comes back, in milliseconds.
    package var stepMs: Int { max(1, windowS * 1000 / quota) }

    /// The key of the setting that changes the quota: `limit_account_sends`.
    package var settingKey: String { "limit_" + name.replacing("-", with: "_") }
}

extension RateLimit {
    /// Failed sign-ins of one account, whether there is such an account or not. In addition, wrong passwords in a row
    /// must wait longer and longer (`sign_in_wait`).
    package static let signInsOfAccount = RateLimit(
        "account-sign-ins", quota: 30, windowS: 900, .service, "failed sign-ins to one account")
    package static let signInsFromAddress = RateLimit(
        "address-sign-ins", quota: 1_000, windowS: 900, .service, "failed sign-ins from one address")
    /// Each one costs a password's hash and creates a session.
    package static let successesOfAccount = RateLimit(
        "account-successful-sign-ins", quota: 60, windowS: 900, .service, "sign-ins to one account that succeed")
    package static let successesFromAddress = RateLimit(
        "address-successful-sign-ins", quota: 600, windowS: 900, .service, "sign-ins from one address that succeed")
    /// Whether the address has an account or not.
    package static let codesToMailbox = RateLimit(
        "mailbox-codes", quota: 10, windowS: 900, .service, "codes mailed to one e-mail address")
    package static let codesFromAddress = RateLimit(
        "address-codes", quota: 600, windowS: 900, .service, "codes requested from one address")
    package static let registrationsFromAddress = RateLimit(
        "address-registrations", quota: 1_000, windowS: 600, "registrations from one address")
    package static let sendsOfAccount = RateLimit(
        "account-sends", quota: 12_000, windowS: 60, "messages sent by one account")
    /// Every other call that writes an event. A call counts 1, and 1 more for each 100 members that it reaches.
    package static let writesOfAccount = RateLimit(
        "account-writes", quota: 600, windowS: 60, "changes other than sends by one account")
    /// A mark of one thread counts 1, in a call of its own or in one for many threads.
    package static let receiptsOfAccount = RateLimit(
        "account-receipts", quota: 12_000, windowS: 60, "receipts put by one account")
    package static let typingOfAccount = RateLimit(
        "account-typing", quota: 300, windowS: 60, "typing notices by one account")
    package static let profileChangesOfAccount = RateLimit(
        "account-profile-changes", quota: 10, windowS: 60, "changes of the profile by one account")
    package static let threadsOfAccount = RateLimit(
        "account-threads", quota: 30, windowS: 60, "threads created by one account")
    package static let dailyThreadsOfAccount = RateLimit(
        "account-threads-daily", quota: 500, windowS: 86_400, .service, "threads created by one account")
    /// People whom the account adds or invites and shares no direct thread and no group with: counted by person, not by
    /// call.
    package static let strangersOfAccount = RateLimit(
        "account-strangers", quota: 200, windowS: 86_400, .service,
        "people added or invited by one account that shares no direct thread and no group with them")
    package static let directoryOfAccount = RateLimit(
        "account-directory", quota: 600, windowS: 60, "directory searches by one account")
    /// Takes a token before the hook is looked up, so it counts posts with a made-up token, too.
    package static let postsToHook = RateLimit("hook-posts", quota: 300, windowS: 60, "posts to one incoming hook")
    package static let reportsOfAccount = RateLimit(
        "account-reports", quota: 60, windowS: 3_600, "reports by one account")
    /// Charged when a thumbnail is drawn. Without a token left, the account's pictures get none.
    package static let thumbnailsOfAccount = RateLimit(
        "account-thumbnails", quota: 60_000, windowS: 3_600,
        "milliseconds of processor time for thumbnails of one account's pictures")
    /// Each costs a query. Tokens that this node knows cost none and are never refused.
    package static let unknownTokensFromAddress = RateLimit(
        "address-unknown-tokens", quota: 600, windowS: 900,
        "unknown session tokens and addresses of hooks from one address")
    package static let adminGuessesFromAddress = RateLimit(
        "address-admin-guesses", quota: 60, windowS: 900, "wrong admin tokens from one address")

    package static let all = [
        signInsOfAccount, signInsFromAddress, successesOfAccount, successesFromAddress, codesToMailbox,
        codesFromAddress, registrationsFromAddress, sendsOfAccount, writesOfAccount, receiptsOfAccount, typingOfAccount,
        profileChangesOfAccount,
        threadsOfAccount, dailyThreadsOfAccount, strangersOfAccount, directoryOfAccount,
        postsToHook, reportsOfAccount, thumbnailsOfAccount, unknownTokensFromAddress, adminGuessesFromAddress,
    ]
}

extension RateLimit {
    private init(_ name: String, quota: Int, windowS: Int, _ subject: String) {
        self.init(name, quota: quota, windowS: windowS, .node, subject)
    }
}

/// The quotas in use: each limit's default unless a setting changed it.
package struct RateQuotas: Sendable, Equatable {
    private var changed: [String: Int] = [:]

    package init() {}

    /// The quota of a limit of ``RateLimit/all``.
    package subscript(limit: RateLimit) -> Int {
        get { changed[limit.name] ?? limit.quota }
        set { changed[limit.name] = newValue == limit.quota ? nil : newValue }
    }

    /// The limit with the quota in use.
    package func applied(to limit: RateLimit) -> RateLimit {
        RateLimit(limit.name, quota: self[limit], windowS: limit.windowS, limit.scope, limit.subject)
    }
}

extension Problem {
    /// 429.
    package static func rateLimited(_ limit: RateLimit, waitMs: Int) -> Problem {
        var problem = Problem(
            .rateLimited,
            "Too many requests: \(limit.name) allows \(limit.quota) in \(limit.windowS) s. "
                + "Retry after the seconds in Retry-After.",
            retryAfterS: max(1, (waitMs + 999) / 1000))
        problem.limit = limit
        return problem
    }
}
