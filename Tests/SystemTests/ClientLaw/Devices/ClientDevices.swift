// The proof of the client: whatever fails, each device's store equals the server's answers in the end, and each message
// that a device accepted is stored once, in the device's order.

import Foundation
import TestSupport
import Testing

/// `make devices OPERATIONS=100000 SEED=7`. Without a seed it is new in each run, and printed.
private enum Settings {
    private static let environment = ProcessInfo.processInfo.environment
    static let operationCount = environment["PARLEY_CLIENT_OPERATIONS"].flatMap { Int($0) } ?? 2_000
    static var minutesMax: Int { 6 + operationCount / 500 }
}

extension SystemTests {
    @Suite("Devices behind a faulty proxy", .timeLimit(.minutes(Settings.minutesMax)))
    struct ClientDevices {
        @Test("show what the server has, and every message was stored once and in order")
        func faults() async throws {
            try await prove(
                .init(operationCount: Settings.operationCount, seed: Seed.fresh("devices behind a faulty proxy")))
        }

        @Test("do so when the server also limits their rates")
        func rateLimits() async throws {
            try await prove(
                .init(
                    operationCount: max(300, Settings.operationCount / 20),
                    seed: Seed.fresh("devices under rate limits"), rateLimits: "on"))
        }

        private func prove(_ plan: DeviceRun.Plan) async throws {
            let seed = Comment("PARLEY_SEED=\(plan.seed)")
            let run = try await DeviceRun(plan)
            let began = ContinuousClock.now
            do {
                try await run.play()
                let differences = try await run.differences()
                #expect(differences.isEmpty, seed)
                for line in differences.prefix(20) { print("PARLEY_SEED=\(plan.seed): \(line.prefix(2_000))") }
            } catch {
                Issue.record("PARLEY_SEED=\(plan.seed): \(error) \(await run.crashes())")
            }
            let report = try await run.report()
            print("PARLEY_SEED=\(plan.seed): \(began.duration(to: .now)): \(report)")
            // The long run proves something only if all this has happened.
            if plan.rateLimits == "off" { #expect(report.missing.isEmpty, seed) }
            for device in run.devices { await device.end() }
            try await run.nodes.stopAll()
        }
    }
}
