// Which tokens are whose, where several accounts' are kept.

extension FCM {
    /// Tells this account from others.
    package var tokenScope: String { "\(account.project) \(account.email)" }
}
