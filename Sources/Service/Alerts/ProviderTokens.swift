// The token by which a service knows us: one for all nodes, kept in the database, renewed by one node at a time.
import Domain
import Foundation
import Outbound
import Push
import Store

/// Why there is no token.
enum PushTokenFailure: Error {
    /// Another node makes it, or the service that gives it doesn't answer.
    case unavailable(reason: String)
    /// Until an operator has done something.
    case halt(reason: String)
}

/// One lane's; not shared.
struct ProviderTokens {
    /// For how long nobody else makes one: longer than asking for one may take.
    private static let leaseSeconds = 30
    /// Between looks at the database whether there is a newer one.
    private static let lookInterval = Duration.seconds(60)
    /// For how much longer than until its renewal a token is used.
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

    /// The token that is good now; an empty one where none is needed. Costs a call of the database a minute.
    mutating func token() async throws -> ProviderToken {
        guard let name = sender.tokenName else { return ProviderToken(text: "", renewAt: .max) }
        if let current, ContinuousClock.now < current.until { return current.token }
        let found = try await store.token(named: name, leaseSeconds: Self.leaseSeconds)
        let token: ProviderToken
        if found.isDue {
            token = try await make(name)
        } else if let stored = found.token {
            token = ProviderToken(
                text: String(decoding: stored.value, as: UTF8.self), renewAt: Self.now + stored.goodMs / 1_000)
        } else {
            throw PushTokenFailure.unavailable(reason: "token")
        }
        if token.text == refused?.text {
            // The next try is with it again.
            refused = nil
            throw PushTokenFailure.halt(reason: "token_refused")
        }
        current = (token, .now + Self.lookInterval)
        return token
    }

    /// The service doesn't take it. The next call gives another one, or says that there is none to be had.
    /// - Returns: whether it was the second in a row, so that another won't help.
    mutating func refuse(_ token: ProviderToken) async throws -> Bool {
        guard let name = sender.tokenName, current?.token.text == token.text else { return false }
        let isSecond = refused != nil
        current = nil
        refused = token
        try await store.refuseToken(
            named: name, Array(token.text.utf8), ageMinSeconds: sender.tokenAgeMinSeconds)
        return isSecond
    }

    /// The service takes our tokens.
    mutating func accepted() { refused = nil }

    private func make(_ name: String) async throws -> ProviderToken {
        let token: ProviderToken
        switch sender {
        case .apns(let apns): token = try apns.providerToken(now: Self.now)
        case .fcm(let fcm): token = try await ask(fcm)
        case .webPush: throw PushTokenFailure.unavailable(reason: "token")
        }
        let renewSeconds = max(1, token.renewAt - Self.now)
        try await store.putToken(
            named: name, Array(token.text.utf8), goodSeconds: renewSeconds + Self.graceSeconds,
            renewSeconds: renewSeconds)
        return token
    }

    private func ask(_ fcm: FCM) async throws -> ProviderToken {
        let request = Transfer(.http(try fcm.tokenRequest(now: Self.now)))
        let result: Result<TransferAnswer, TransferFailure>
        do throws(TransferFailure) {
            result = .success(try await outbound.perform(request))
        } catch {
            result = .failure(error)
        }
        switch fcm.tokenVerdict(result, now: Self.now) {
        case .token(let token): return token
        case .retry(_, let reason): throw PushTokenFailure.unavailable(reason: reason)
        case .halt(let reason): throw PushTokenFailure.halt(reason: reason)
        }
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }
}
