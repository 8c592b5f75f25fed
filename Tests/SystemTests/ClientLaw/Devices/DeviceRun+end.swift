// The end of a run: no more faults, every device comes to rest, and everything is compared.

import Foundation
import TestSupport
import Testing

extension DeviceRun {
    /// Describes where a device differs from the server, and messages that are lost, doubled, out of order or invented.
    func differences() async throws -> [String] {
        try await nodes.waitUntil(ready: true)
        _ = try await proxy.call(["do": "faults", "on": false])
        var lines = await crashes()
        guard lines.isEmpty else { return lines }
        // Messages expire and marks move for some seconds more, also between two answers of one comparison, which takes a
        // minute after a long run. A difference that stays is a fault.
        let deadline = ContinuousClock.now + .seconds(120)
        var count = 0
        repeat {
            lines = try await rest()
            if lines.isEmpty { lines = try await comparison() }
            count += 1
            if !lines.isEmpty { try await Task.sleep(for: .seconds(1)) }
        } while !lines.isEmpty && (count < 3 || ContinuousClock.now < deadline)
        return lines
    }

    /// Devices that ended by themselves, or did not start.
    func crashes() async -> [String] {
        var lines: [String] = []
        for device in devices { lines += await device.crashes.map { "device \(device.number) crashed: \($0)" } }
        return lines
    }

    /// Waits until each device has sent and received everything.
    private func rest() async throws -> [String] {
        try await withThrowingTaskGroup(of: String?.self) { group in
            for device in devices {
                group.addTask {
                    let answer = try await device.call(["do": "idle", "seconds": 60])
                    return answer["error"].string.map { "device \(device.number): \($0)" }
                }
            }
            var lines: [String] = []
            for try await line in group { lines += line.map { [$0] } ?? [] }
            return lines
        }
    }

    private func comparison() async throws -> [String] {
        var lines: [String] = []
        var failed: [String: String] = [:]
        let connection = Connection(nodes.addresses[0])
        for person in people {
            let view = try await ServerView(of: person, at: connection)
            for device in devices where device.person.id == person.id {
                let dump = try await device.call(["do": "dump"])
                if let error = dump["error"].string { lines.append("device \(device.number): \(error)") }
                lines += view.differences(from: dump).map { "device \(device.number): \($0)" }
                for message in dump["outbox"].items {
                    failed[message["id"].string ?? ""] = message["state"].string
                }
            }
        }
        return try await lines + ledger.differences(in: log.conninfo, failed: failed)
    }

    /// What has happened in a run.
    struct Report: CustomStringConvertible {
        let done: [String: Int]
        let errors: [String: Int]
        let acceptedCount: Int
        let faults: [String: Int]
        let proxy: JSON

        /// Kinds of faults without which the run proves little.
        var missing: [String] {
            let kinds = proxy["faults"].keys
            let wanted = [
                "refused", "busy", "gateway", "slow", "late", "lost", "torn", "doubled", "overtaken", "stale",
            ]
            return wanted.filter { !kinds.contains($0) } + (proxy["statuses"]["410"] == .null ? ["410"] : [])
        }

        var description: String {
            func text(_ counts: [String: Int]) -> String {
                counts.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            }
            return """
                \(done.values.reduce(0, +)) operations (\(text(done))), \(acceptedCount) messages accepted
                errors: \(text(errors))
                killed: \(text(faults))
                proxy: \(proxy["requests"]) requests, faults \(proxy["faults"]), statuses \(proxy["statuses"])
                refusals: \(proxy["refusals"])
                """
        }
    }

    func report() async throws -> Report {
        Report(
            done: doneCounts, errors: errorCounts, acceptedCount: ledger.acceptedCount, faults: faultCounts,
            proxy: try await proxy.call(["do": "report"]))
    }
}
