// How a loop reacts to failures of the push service and the database, and to the node's stop.
import Domain
import Store
import TestSupport
import Testing

@testable import Service

@Suite("A loop of alerts", .timeLimit(.minutes(1)))
struct AlertLoops {
    @Test("sends what is due, once, and records it")
    func sends() async throws {
        let setup = try await AlertLoopSetup(alerts: 3)
        try await setup.running {
            try await setup.sinks.accepted(.apns, count: 3)
            try await eventually("the outcomes") {
                try await setup.query("select count(*) from push_jobs") == "0"
            }
        }
        #expect(setup.metrics.sent.value == 3)
        #expect(try setup.sinks.accepted(.apns).count == 3)
        #expect(setup.metrics.failures.value == 0)
        #expect(setup.lines.all.allSatisfy { $0.hasPrefix("debug: ") }, "\(setup.lines.all)")
    }

    @Test("halts when the service refuses the key, keeps the alerts, and notifies the operator once")
    func halts() async throws {
        let setup = try await AlertLoopSetup(alerts: 3)
        try await setup.sinks.behave(.answer(403, reason: "InvalidProviderToken"), of: .apns, times: 1_000)
        try await setup.running {
            try await eventually("the halt") { setup.metrics.isHalted.load(ordering: .relaxed) }
            try await eventually("the outcomes") { setup.loop.deliveries.update { $0.outcomeCount == 0 } }
            // Wake-ups do not end a halt.
            let requestCount = try setup.sinks.requestCount(of: .apns)
            let passCount = setup.loop.deliveries.passCount
            try await eventually("ten passes") { setup.loop.deliveries.passCount >= passCount + 10 }
            #expect(try setup.sinks.requestCount(of: .apns) == requestCount)
        }
        #expect(setup.metrics.sent.value == 0)
        #expect(try await setup.query("select count(*) from push_jobs") == "3")
        let errors = setup.lines.all.filter { $0.hasPrefix("error: ") }
        #expect(errors.count == 1, "\(setup.lines.all)")
        #expect(errors.first?.contains("no alerts are sent until the settings are corrected") == true)
        #expect(errors.first?.contains("InvalidProviderToken") == true)
    }

    @Test("halts when a token as good as new is refused, too, because APNs allows none within 20 minutes")
    func refusedToken() async throws {
        let setup = try await AlertLoopSetup(alerts: 1)
        try await setup.sinks.behave(.answer(403, reason: "ExpiredProviderToken"), of: .apns, times: 1_000)
        try await setup.running {
            try await eventually("the halt") { setup.metrics.isHalted.load(ordering: .relaxed) }
        }
        #expect(setup.lines.all.contains { $0.contains("the push service refused the provider token; renewing it") })
        #expect(
            setup.lines.all.contains { $0.hasPrefix("error: ") && $0.contains("token_refused") }, "\(setup.lines.all)")
        #expect(try await setup.query("select count(*) from push_jobs") == "1")
    }

    @Test("records an outcome later when the database fails, and does not send the alert twice")
    func failingSettlement() async throws {
        let setup = try await AlertLoopSetup(alerts: 2)
        _ = try await setup.query("alter function push_settle rename to push_settle_away")
        try await setup.running {
            try await setup.sinks.accepted(.apns, count: 2)
            try await eventually("a failure") { setup.metrics.failures.value > 0 }
            #expect(try await setup.query("select count(*) from push_jobs") == "2")
            _ = try await setup.query("alter function push_settle_away rename to push_settle")
            try await eventually("the outcomes") {
                try await setup.query("select count(*) from push_jobs") == "0"
            }
        }
        #expect(try setup.sinks.accepted(.apns).count == 2)
        let lines = setup.lines.all.filter { $0.contains("recording the outcomes of alerts failed; retrying in 1 s") }
        #expect(lines.count == 1, "\(setup.lines.all)")
    }

    @Test("ends within its time while a transfer hangs, and leaves the alert to the next node at once, as untried")
    func closing() async throws {
        let setup = try await AlertLoopSetup(alerts: 1)
        try await setup.sinks.behave(.hang, of: .apns)
        try await setup.running(closeMax: .milliseconds(500)) {
            try await eventually("a request") { try setup.sinks.requestCount(of: .apns) == 1 }
        }
        // A loop that waited for the transfer's own timeout would have recorded a failed attempt.
        let found = try await setup.query(
            "select outcome, attempt from push_claim('apns', 10, 60, 3600)")
        #expect(found == "send|1", "\(setup.lines.all)")
    }

    @Test("records what arrives within the time for closing")
    func arrivingLate() async throws {
        let setup = try await AlertLoopSetup(alerts: 1)
        try await setup.sinks.behave(.slow(seconds: 1), of: .apns)
        try await setup.running(closeMax: .seconds(5)) {
            try await eventually("a request") { try setup.sinks.requestCount(of: .apns) == 1 }
        }
        #expect(setup.metrics.sent.value == 1)
        #expect(try await setup.query("select count(*) from push_jobs") == "0")
    }
}
