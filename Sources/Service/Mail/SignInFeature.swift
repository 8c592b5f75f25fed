// Signing in: the calls, the mails with codes, and the keys of the host app's tokens.
import API
import ServiceConfiguration
import Workers

extension Feature {
    static func signIns(_ node: NodeCore) throws -> Feature {
        let (settings, logger, metrics) = (node.settings, node.logger, MailMetrics())
        let mail = try MailWorker(
            settings, store: node.store, hasher: node.hasher, metrics: metrics, logger: logger)
        let keys = try settings.makeKeyFile(logger: logger)
        let delegation = keys.map {
            Delegation(keys: $0, expecting: .init(issuer: settings.jwtIssuer, audience: settings.jwtAudience))
        }
        let calls = SignInCalls(
            node.calls, registration: settings.registrationInUse, hasher: node.hasher, delegation: delegation,
            mailQueued: mail?.wake)
        return Feature(
            routes: calls.routes,
            components: [
                Component("signIns", metrics: calls.writeMetrics),
                Component("mail", of: mail, failures: [metrics.failures], metrics: metrics.write) {
                    await $0.run()
                },
                Component("delegatedTokenKeys", of: keys) { try await $0.run() },
            ])
    }
}
