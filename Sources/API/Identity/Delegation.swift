// How tokens of the host app are checked. DelegatedTokens checks keys, signatures and claims.
import DelegatedTokens

/// How tokens of the host app are checked.
package struct Delegation: Sendable {
    /// The name of an account whose first token has no name. Not its external id, which may be an e-mail address.
    static let defaultName = "Unnamed"

    let keys: KeyFile
    let expecting: DelegatedToken.Expectations

    package init(keys: KeyFile, expecting: DelegatedToken.Expectations) {
        self.keys = keys
        self.expecting = expecting
    }
}
