// Rate limits of sign-ins. Failures and successes have separate buckets. Which of them counts is known only after the
// attempt, so an attempt takes a token from both and then returns one.
import Domain
import Store

extension RateLimits {
    /// Runs a sign-in attempt. After ten wrong passwords of an account in a row, each further attempt must wait twice
    /// as long as the one before (`sign_in_wait`), up to `waitMaxS`.
    func signIn<Value: Sendable>(
        _ attempt: SignInAttempt, waitMaxS: Int, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isOn else { return try await body() }
        let who = attempt.account.map { "\(attempt.way) \($0)" }
        let address = attempt.address.map { "\($0)" }
        func buckets(_ ofAddress: RateLimit, _ ofAccount: RateLimit) -> [SharedBucket] {
            // The address first: an address without tokens must not use up those of accounts.
            [address.map { bucket(ofAddress, $0) }, who.map { bucket(ofAccount, $0) }].compactMap { $0 }
        }
        let wrong = buckets(.signInsFromAddress, .signInsOfAccount)
        // A valid token is no guess and costs no hash. It counts for its account (below), and not for its address.
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
            // The password was right, and was hashed.
            await end(name, .right, giveBack: wrong)
            throw problem
        } catch {
            // The attempt showed nothing about the credentials, so it is no guess.
            await end(name, .none, giveBack: wrong + right)
            throw error
        }
        await end(name, .right, giveBack: wrong)
        return value
    }

    private static let wrongInARow =
        "Too many wrong passwords in a row. Retry after the seconds in Retry-After."

    /// Ends an attempt. An error here must not hide the session that was created or the code that was used. Tokens that
    /// are not given back refill with time.
    private func end(_ name: [UInt8]?, _ outcome: SignInOutcome, giveBack buckets: [SharedBucket]) async {
        try? await store.endSignIn(name: name, outcome, giveBack: buckets)
    }

    /// Takes a token for a session that a valid token of the host app is about to create.
    func signIn(byTokenOf subject: ExternalID) async throws {
        if isOn { try await take([bucket(.successesOfAccount, "token \(subject.text)")]) }
    }
}
