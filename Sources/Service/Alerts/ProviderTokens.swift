// The provider token that authenticates the service to a push service. All nodes share one; it is in the database, and
// one node at a time renews it.
import Basics
import Domain
import Outbound
import Push
import Store

/// Why there is no token.
enum PushTokenFailure: Error {
    /// Another node is making one, or the service that issues it doesn't answer.
    case unavailable(reason: String)
    /// There will be none until an operator corrects something.
    case halt(reason: String)
}

/// The provider tokens of one loop.
actor ProviderTokens {
    /// How long no other node creates a token: longer than a request for one may take.
    private static let leaseSeconds = 30
    /// Between reads of the database for a newer token.
    private static let lookInterval = Duration.seconds(60)
    /// How long a token is used after its renewal is due.
    private static let graceSeconds = 8 * 60

    let sender: AlertSender
    let store: Store
    let outbound: Outbound
    private var current: (token: ProviderToken, until: ContinuousClock.Instant)?
    private var refused: ProviderToken?

    init(_ sender: AlertSender, store: Store, outbound: Outbound) {
        self.sender = sender
        self.store = store
        self.outbound = outbound
    }

    /// Returns the valid token, or an empty one where none is needed. Costs one call of the database a minute.
    ///
    /// - Throws: `PushTokenFailure`, and what the database answers.
    func token() async throws -> ProviderToken {
        guard let name = sender.tokenName else { return ProviderToken(text: "", renewAt: .max) }
        if let current, ContinuousClock.now < current.until { return current.token }
        let found = try await store.token(named: name, leaseSeconds: Self.leaseSeconds)
        let token: ProviderToken
        if found.isDue {
            token = try await make(name)
        } else if let stored = found.token {
            token = ProviderToken(
                text: String(decoding: stored.value, as: UTF8.self), renewAt: WallClock.seconds + stored.goodMs / 1_000)
        } else {
            throw PushTokenFailure.unavailable(reason: "token")
        }
        if token.text == refused?.text {
            // The next try uses it again.
            refused = nil
            throw PushTokenFailure.halt(reason: "token_refused")
        }
        current = (token, .now + Self.lookInterval)
        return token
    }

    /// Handles a token that the service refused. The next call of `token` returns another one, or throws.
    ///
    /// - Returns: whether it was the second in a row, so that another token won't help.
    func refuse(_ token: ProviderToken) async throws -> Bool {
        guard let name = sender.tokenName, current?.token.text == token.text else { return false }
        let isSecond = refused != nil
        current = nil
        refused = token
        try await store.refuseToken(
            named: name, Array(token.text.utf8), ageMinSeconds: sender.tokenAgeMinSeconds)
        return isSecond
    }

    /// Handles a token that the service accepted.
    func accepted() { refused = nil }

    private func make(_ name: String) async throws -> ProviderToken {
        let token: ProviderToken
        switch sender {
        case .apns(let apns): token = try apns.providerToken(now: WallClock.seconds)
        case .fcm(let fcm): token = try await requestToken(fcm)
        case .webPush: throw PushTokenFailure.unavailable(reason: "token")
        }
        let renewSeconds = max(1, token.renewAt - WallClock.seconds)
        try await store.putToken(
            named: name, Array(token.text.utf8), goodSeconds: renewSeconds + Self.graceSeconds,
            renewSeconds: renewSeconds)
        return token
    }

    private func requestToken(_ fcm: FCM) async throws -> ProviderToken {
        let request = Transfer(.http(try fcm.tokenRequest(now: WallClock.seconds)))
        let result: Result<TransferAnswer, TransferFailure>
        do throws(TransferFailure) {
            result = .success(try await outbound.perform(request))
        } catch {
            result = .failure(error)
        }
        switch fcm.tokenVerdict(result, now: WallClock.seconds) {
        case .token(let token): return token
        case .retry(_, let reason): throw PushTokenFailure.unavailable(reason: reason)
        case .halt(let reason): throw PushTokenFailure.halt(reason: reason)
        }
    }
}
