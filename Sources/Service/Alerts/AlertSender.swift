// The three services behind one face: a request for an alert, and what its answer means.
import Domain
import Foundation
import Outbound
import Push
import ServiceConfiguration

enum AlertSender: Sendable {
    case apns(APNs)
    case fcm(FCM)
    case webPush(WebPush)

    /// Under which name all nodes share the service's token; nil where each request has its own. Another key has
    /// another.
    var tokenName: String? {
        switch self {
        case .apns(let apns): "apns \(apns.tokenScope)"
        case .fcm(let fcm): "fcm \(fcm.tokenScope)"
        case .webPush: nil
        }
    }

    /// How old a token has to be before the next may be made: APNs refuses a fleet that makes more (429).
    var tokenAgeMinSeconds: Int {
        switch self {
        case .apns: 20 * 60
        case .fcm, .webPush: 0
        }
    }

    /// Of one service, by its origin: a push service that somebody named gets no more, however many devices are there.
    var originInFlightMax: Int {
        switch self {
        case .apns, .fcm: .max
        case .webPush: 16
        }
    }

    /// A stranger's server gets less time.
    var timeMax: Duration {
        switch self {
        case .apns, .fcm: .seconds(20)
        case .webPush: .seconds(10)
        }
    }

    func request(_ alert: PushAlert, _ token: ProviderToken, now: Int) throws(Unsendable) -> HTTPExchange {
        switch self {
        case .apns(let apns): try apns.request(alert, providerToken: token)
        case .fcm(let fcm): try fcm.request(alert, providerToken: token, now: now)
        case .webPush(let webPush): try webPush.request(alert, now: now)
        }
    }

    func verdict(_ result: Result<TransferAnswer, TransferFailure>, _ alert: PushAlert, now: Int) -> PushVerdict {
        switch self {
        case .apns(let apns): apns.verdict(result, alert, now: now)
        case .fcm(let fcm): fcm.verdict(result, alert, now: now)
        case .webPush(let webPush): webPush.verdict(result, alert, now: now)
        }
    }
}

extension AlertSender {
    /// Those that the settings have. Throws what is said to who starts the node.
    /// - keys: of Web Push.
    static func configured(_ settings: Settings, keys: VAPIDKeyPair) throws -> [PushPlatform: AlertSender] {
        var senders: [PushPlatform: AlertSender] = [:]
        if let path = settings.apnsKeyFile, let keyID = settings.apnsKeyID, let teamID = settings.apnsTeamID {
            let text = String(decoding: try file(path, "PARLEY_APNS_KEY_FILE"), as: UTF8.self)
            senders[.apns] = try readable("PARLEY_APNS_KEY_FILE", path) { () throws(PushKeyUnreadable) in
                .apns(
                    try APNs(
                        key: text, keyID: keyID, teamID: teamID, topic: settings.apnsTopic, url: settings.apnsURL))
            }
        }
        if let path = settings.fcmAccountFile {
            let account = try file(path, "PARLEY_FCM_ACCOUNT_FILE")
            senders[.fcm] = try readable("PARLEY_FCM_ACCOUNT_FILE", path) { () throws(PushKeyUnreadable) in
                .fcm(try FCM(account: Array(account), url: settings.fcmURL))
            }
        }
        if let subject = settings.webPushSubject {
            senders[.webpush] = .webPush(WebPush(keys: keys, subject: subject))
        }
        return senders
    }

    private static func file(_ path: String, _ variable: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw StartError("\(variable): \(path) can't be read.")
        }
    }

    private static func readable(
        _ variable: String, _ path: String, _ read: () throws(PushKeyUnreadable) -> AlertSender
    ) throws -> AlertSender {
        do {
            return try read()
        } catch {
            throw StartError("\(variable): \(path) \(error).")
        }
    }
}
