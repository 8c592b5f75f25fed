// What clients may offer their users with these settings.
import API
import Domain
import ServiceConfiguration

extension Settings {
    var offer: ServiceOffer {
        ServiceOffer(
            name: appName, version: Invocation.version, registration: registrationInUse,
            sendsMail: mailServer != nil && mailSender != nil, acceptsTokens: jwtKeysFile != nil,
            platforms: pushPlatforms, showsEdits: showsEdits, limits: limits)
    }

    /// The platforms that alerts can be sent to.
    var pushPlatforms: Set<PushPlatform> {
        var platforms: Set<PushPlatform> = []
        if apnsKeyFile != nil, apnsKeyID != nil, apnsTeamID != nil { platforms.insert(.apns) }
        if fcmAccountFile != nil { platforms.insert(.fcm) }
        if webPushSubject != nil { platforms.insert(.webpush) }
        return platforms
    }
}
