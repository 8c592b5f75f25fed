// `parley serve`: a node from its start to its end.
import Domain
import Glibc
import Logging
import ServiceConfiguration
import Store
import Transport
import UnixSignals

extension Node {
    /// Serves until SIGTERM or SIGINT. Throws if the node can't start.
    package static func serve(_ settings: Settings) async throws {
        let logger = Logger(label: "parley")
        if let account = try settings.accountToSwitchTo() {
            logger.info("root switches to another user", metadata: ["user": "\(account.name)"])
            try account.takeOver()
        }
        let changed = settings.changedMetadata
        if !changed.isEmpty { logger.info("settings that differ from their defaults", metadata: changed) }
        for name in settings.unknownVariables {
            let near = Setting.variables(near: name).joined(separator: ", ")
            logger.warning(
                "unknown setting \(name) is ignored", metadata: near.isEmpty ? [:] : ["did_you_mean": "\(near)"])
        }
        FileLimit.raise(logger: logger)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await Database.open(settings, logger: logger) { database in
            try await database.prepareSchema(settings.migration, logger: logger)
            let pools = database.makePools(settings, logger: logger)
            do {
                try await database.using {
                    let node = try await Node(settings, database, pools, logger: logger)
                    try await node.run(until: signals)
                }
            } catch {
                await pools.shutdown()
                throw error
            }
            await pools.shutdown()
        }
        logger.info("stopped")
    }

    private func run(until signals: UnixSignalsSequence) async throws {
        let server = try await listen()
        let metricsServer = try await listenForScrapers()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The components run until the last request is answered. Then they are cancelled.
            for case let run? in components.map(\.run) { group.addTask { try await run() } }
            group.addTask { try await announceWhenFresh(server) }
            group.addTask {
                for await signal in signals {
                    core.logger.info("stopping", metadata: ["signal": "\(signal)"])
                    Watchdog.start()
                    await drain(server, signal)
                    await metricsServer?.drain(deadline: .zero)
                    throw Stopped()
                }
            }
            do {
                // Not waitForAll, which rethrows only when all have ended.
                while try await group.next() != nil {}
            } catch is Stopped {
                group.cancelAll()
            }
        }
    }

    private struct Stopped: Error {}

    /// Prints the node's address, and who may register, once the node answers requests.
    private func announceWhenFresh(_ server: HTTPServer) async throws {
        while !isFresh { try await Task.sleep(for: .milliseconds(5)) }
        // In a URL an IPv6 address is in brackets.
        let name = core.settings.httpHost
        let host = name.contains(":") ? "[\(name)]" : name
        print(
            "parley is listening on http\(core.tls == nil ? "" : "s")://\(host):\(server.port) "
                + "(registration: \(core.settings.registrationInUse.rawValue))")
        if isatty(STDOUT_FILENO) == 1 { print(core.settings.startNotice(port: server.port)) }
        fflush(nil)
    }
}
