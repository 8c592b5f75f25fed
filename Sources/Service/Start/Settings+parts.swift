// The parts of a node that settings describe completely.
import API
import Basics
import Credentials
import DelegatedTokens
import Log
import Logging
import ServiceConfiguration
import Transport

extension Settings {
    func makePasswordHasher() -> PasswordHasher {
        PasswordHasher(
            cost: ScryptCost(logN: passwordCost, r: ScryptCost.standard.r, p: ScryptCost.standard.p),
            workerCount: passwordWorkerCount > 0 ? passwordWorkerCount : PasswordHasher.workerCountOfMachine,
            waitingCountMax: passwordQueueMax)
    }

    /// The keys of the host app's tokens, if there are any.
    func makeKeyFile(logger: Logger) throws -> KeyFile? {
        guard let path = jwtKeysFile else { return nil }
        do {
            return try KeyFile(path: path, logger: logger)
        } catch {
            throw StartError("the keys of PARLEY_JWT_KEYS can't be read from \(path): \(error).")
        }
    }

    func makeTrustedProxies() throws -> TrustedProxies {
        TrustedProxies(
            try trustedProxies.map { text in
                guard let range = AddressRange(parsing: text) else {
                    throw StartError(
                        "PARLEY_TRUSTED_PROXIES: \(text) is neither an address nor a range of addresses.")
                }
                return range
            })
    }

    var metricsAccess: MetricsAccess {
        switch metricsInUse {
        case .open: .open
        case .admin: .admin
        case .address: .elsewhere
        }
    }

    var hubLimits: HubLimits {
        var hub = HubLimits()
        hub.deviceWaitTickCount = pushWaitMs / HubLimits.tickMs
        hub.sessionPollCountMax = sessionPollCountMax
        hub.accountPollCountMax = accountPollCountMax
        return hub
    }

    var tlsFiles: TLSFiles? {
        guard let tlsCertificateFile, let tlsKeyFile else { return nil }
        return TLSFiles(certificate: tlsCertificateFile, key: tlsKeyFile)
    }
}
