// How often somebody may try to sign in. Wrong tries and right ones count in buckets of their own: what counts in the end is
// known only when the try is over, so a try takes a token of both and gets one back.
import Domain
import Store

extension RateLimits {
    /// Runs a sign-in attempt. After ten wrong passwords of an account in a row, each further attempt must wait twice as
    /// long as the one before (`sign_in_wait`), up to `waitMaxS`.
    func signIn<Value: Sendable>(
        _ attempt: SignInAttempt, waitMaxS: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isOn else { return try await body() }
        let who = attempt.account.map { "\(attempt.way) \($0)" }
        let address = attempt.address.map { "\($0)" }
        func buckets(_ ofAddress: RateLimit, _ ofAccount: RateLimit) -> [SharedBucket] {
            // The address first: one without tokens can't take those of accounts.
            [address.map { bucket(ofAddress, $0) }, who.map { bucket(ofAccount, $0) }].compactMap { $0 }
        }
        let wrong = buckets(.signInsFromAddress, .signInsOfAccount)
        // A good token is no guess and costs no hash: it counts for its account (below), not for its address.
        let right = attempt.way == .token ? [] : buckets(.successesFromAddress, .successesOfAccount)
        let name = attempt.way == .password ? who.map { Self.digest("wrong \($0)") } : nil

        if let (empty, waitMs) = try await store.beginSignIn(
            name: name, waitMaxS: waitMaxS, buckets: wrong + right)
        {
            var problem = refusal(empty?.limit ?? .signInsOfAccount, waitMs: waitMs)
            if empty == nil { problem.detail = Self.wrongInARow }
            throw problem
        }
        let value: Value
        do {
            value = try await body()
        } catch let problem as Problem where problem.isWrongGuess {
            await end(name, .wrong, giveBack: right)
            throw problem
        } catch let problem as Problem where problem.code == .accountSuspended {
            // The password was right, and hashed.
            await end(name, .right, giveBack: wrong)
            throw problem
        } catch {
            // Nothing was learned: no guess.
            await end(name, .none, giveBack: wrong + right)
            throw error
        }
        await end(name, .right, giveBack: wrong)
        return value
    }

    private static let wrongInARow =
        "Too many wrong passwords in a row. Retry after the seconds in Retry-After."

    /// Whatever becomes of it: a session that was made, and a code that was used for it, are not to be lost with an answer
    /// for this. What isn't given back comes back by itself.
    private func end(_ name: [UInt8]?, _ outcome: SignInOutcome, giveBack buckets: [SharedBucket]) async {
        try? await store.endSignIn(name: name, outcome, giveBack: buckets)
    }

    /// A good token of the host app's is about to make a session.
    func signIn(byTokenOf subject: ExternalID) async throws {
        if isOn { try await take([bucket(.successesOfAccount, "token \(subject.text)")]) }
    }
}
