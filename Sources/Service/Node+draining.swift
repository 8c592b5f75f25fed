// How a node stops without losing a request.
import Transport
import UnixSignals

extension Node {
    /// First fails the readiness check, then ends the waiting polls, then answers the other requests, then writes what
    /// they left behind. The components still run: alerts, mail and the tail end after this. All that still needs the
    /// database has the time of `StopTimes.databaseEnd`.
    func drain(_ server: HTTPServer, _ signal: UnixSignal) async {
        let signalled = ContinuousClock.now
        let drain = Duration.seconds(core.settings.drainSeconds)
        // A load balancer must see the failing readiness check before connections are refused. At a terminal (SIGINT)
        // there is none.
        let unreadyUntil = signalled + (signal == .sigterm ? min(drain, .seconds(1)) : .zero)
        core.isClosing.set()
        server.setClosing()
        let log = core.log
        log.hub.moved.close()
        await log.hub.drain(over: drain)
        try? await Task.sleep(until: unreadyUntil, clock: .continuous)
        core.pools.end(by: StopTimes.databaseEnd(signalled: signalled, drained: .now))
        await server.stopAccepting()
        await server.drain(deadline: .seconds(2))
        log.writer.close()
        await orLog("recording the last use of sessions failed; it is lost") { try await log.sessions.flush() }
        await orLog("recording the last use of admin keys failed; it is lost") { try await log.adminKeys.flush() }
        await orLog("recording that devices stopped polling failed; they count as gone after 45 s") {
            try await log.devicePolls.leave()
        }
    }

    /// A failure must not keep the node from stopping.
    private func orLog(_ failure: String, _ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            core.logger.warning("\(failure)", metadata: ["reason": "\(error)"])
        }
    }
}
