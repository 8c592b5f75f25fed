// The three push services behind one type: the request for an alert, and what its answer means.
import Domain
import FoundationEssentials
import Outbound
import Push
import ServiceConfiguration

enum AlertSender: Sendable {
    case apns(APNs)
    case fcm(FCM)
    case webPush(WebPush)

    /// The name under which all nodes share the service's provider token, or nil where each request has a token of its
    /// own. Tokens of another key have another name.
    var tokenName: String? {
        switch self {
        case .apns(let apns): "apns \(apns.tokenScope)"
        case .fcm(let fcm): "fcm \(fcm.tokenScope)"
        case .webPush: nil
        }
    }

    /// The age at which a token may be replaced. APNs refuses a fleet that makes tokens more often (429).
    var tokenAgeMinSeconds: Int {
        switch self {
        case .apns: 20 * 60
        case .fcm, .webPush: 0
        }
    }

    /// The most alerts under way to one origin. Clients name Web Push services, so each gets few, however many devices
    /// it has.
    var originInFlightMax: Int {
        switch self {
        case .apns, .fcm: .max
        case .webPush: 16
        }
    }

    /// How long a transfer may take. A server that a client named gets less time.
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
    /// Returns a sender for each platform that the settings configure.
    ///
    /// - Parameter keys: of Web Push.
    /// - Throws: `StartError` for a file that can't be used.
    static func configured(_ settings: Settings, keys: VAPIDKeyPair) throws -> [PushPlatform: AlertSender] {
        var senders: [PushPlatform: AlertSender] = [:]
        if let path = settings.apnsKeyFile, let keyID = settings.apnsKeyID, let teamID = settings.apnsTeamID {
            let file = SettingFile(variable: "PARLEY_APNS_KEY_FILE", path: path)
            senders[.apns] = try sender(from: file) { contents throws(PushKeyUnreadable) in
                .apns(
                    try APNs(
                        key: String(decoding: contents, as: UTF8.self), keyID: keyID, teamID: teamID,
                        topic: settings.apnsTopic, url: settings.apnsURL))
            }
        }
        if let path = settings.fcmAccountFile {
            let file = SettingFile(variable: "PARLEY_FCM_ACCOUNT_FILE", path: path)
            senders[.fcm] = try sender(from: file) { contents throws(PushKeyUnreadable) in
                .fcm(try FCM(account: Array(contents), url: settings.fcmURL))
            }
        }
        if let subject = settings.webPushSubject {
            senders[.webpush] = .webPush(WebPush(keys: keys, subject: subject))
        }
        return senders
    }

    private static func sender(
        from file: SettingFile, _ read: (Data) throws(PushKeyUnreadable) -> AlertSender
    ) throws -> AlertSender {
        let contents = try file.contents()
        do {
            return try read(contents)
        } catch {
            throw StartError("\(file.variable): \(file.path) \(error).")
        }
    }
}
