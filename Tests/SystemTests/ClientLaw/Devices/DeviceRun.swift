// Four people with three devices each, two nodes, a faulty proxy between them, and everything killed now and then.

import Foundation
import Synchronization
import TestSupport
import Testing

/// One run: devices carry out random commands while the network, the nodes, PostgreSQL and the devices fail.
actor DeviceRun {
    struct Plan: Sendable {
        let operationCount: Int
        let seed: UInt64
        var rateLimits = "off"
        /// Seconds between two commands of a lane, and between two kills.
        var pause = 0..<0.6
        var faultPause = 0.5..<2.5
    }

    private static let personCount = 4
    private static let devicesEach = 3
    /// How many commands a device has at the same time. Only the first lane sends.
    private static let laneCount = 3

    let plan: Plan
    let cluster: TestCluster
    let log: ShortLog
    let nodes: RestartableNodes
    let proxy: LineProcess
    private let directory: TemporaryDirectory
    let people: [Person]
    let devices: [DeviceProcess]
    private var commands: [[DeviceCommands]]
    private(set) var ledger = SendLedger()
    /// Commands that were answered: by their name, and by their error.
    private(set) var doneCounts: [String: Int] = [:]
    private(set) var errorCounts: [String: Int] = [:]
    private(set) var faultCounts: [String: Int] = [:]
    private var startedCount = 0

    init(_ plan: Plan) async throws {
        self.plan = plan
        cluster = try await StoppableCluster.running()
        log = try await ShortLog.make(on: cluster)
        nodes = try await RestartableNodes.start(
            2, on: log.conninfo, settings: ["PARLEY_RATE_LIMITS": plan.rateLimits])
        let ports = nodes.addresses.map { "\($0.port)" }.joined(separator: ",")
        let script = Repository.file("Tests/SystemTests/ClientLaw/Devices/faulty_proxy.py").path
        let (proxy, greeting) = try await LineProcess.start(
            ["/usr/bin/python3", "-B", script, "--nodes", ports, "--seed", "\(plan.seed)"])
        self.proxy = proxy
        let address = Address(port: try #require(greeting["port"].int))
        let directory = try TemporaryDirectory()
        self.directory = directory
        let connection = Connection(nodes.addresses[0])
        var people: [Person] = []
        for number in 0..<Self.personCount { people.append(try await connection.register("Person\(number)")) }
        self.people = people
        _ = try await connection.thread("group", by: people[0], with: Array(people[1...]))
        for (one, other) in [(0, 1), (2, 3)] {
            _ = try await connection.thread("direct", by: people[one], with: [people[other]])
        }
        devices = (0..<Self.personCount * Self.devicesEach).map { number in
            DeviceProcess(
                number, of: people[number / Self.devicesEach], through: address,
                store: directory.path + "/device-\(number)")
        }
        commands = devices.map { device in
            (0..<Self.laneCount).map { lane in
                DeviceCommands(seed: plan.seed, lane: device.number * Self.laneCount + lane, people: people.map(\.id))
            }
        }
    }

    // MARK: Playing

    /// Carries out the plan's commands while faults happen. Returns once the last command was answered.
    func play() async throws {
        // Each device loads its inbox first. Before that a command has nothing to act on, and no cursor can expire.
        await withDiscardingTaskGroup { group in
            for device in devices { group.addTask { _ = try? await device.call(["do": "idle", "seconds": 30]) } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                for lane in 0..<Self.laneCount { group.addTask { try await self.play(device, lane) } }
            }
            group.addTask { try await self.breakThings() }
            try await group.waitForAll()
        }
    }

    var isOver: Bool { startedCount >= plan.operationCount }

    private func play(_ device: DeviceProcess, _ lane: Int) async throws {
        while let command = nextCommand(device.number, lane) {
            ledger.intend(command, on: device.number)
            try await Task.sleep(for: .seconds(Double.random(in: plan.pause)))
            do {
                let answer = try await device.call(command)
                ledger.record(command, answer, on: device.number)
                count(command, answer)
            } catch is LineProcess.Ended {
                errorCounts["killed", default: 0] += 1
            }
        }
    }

    private func nextCommand(_ device: Int, _ lane: Int) -> [String: JSON]? {
        guard !isOver else { return nil }
        startedCount += 1
        return commands[device][lane].next(sends: lane == 0)
    }

    private func count(_ command: [String: JSON], _ answer: JSON) {
        if answer["error"] == "nothing" {
            startedCount -= 1
        } else if let error = answer["error"].string {
            errorCounts[String(error.prefix(60)), default: 0] += 1
        } else {
            doneCounts[command["do"]?.string ?? "", default: 0] += 1
        }
    }

    // MARK: Faults

    private enum Fault: String, CaseIterable {
        case deviceAway, device, otherDevice, node, bothNodes, database, log
    }

    /// Each fault once, then any, until the commands are over.
    private func breakThings() async throws {
        var random = SplitMix64(seed: plan.seed &+ 77)
        var faults = Fault.allCases[...]
        while !isOver {
            try await Task.sleep(for: .seconds(Double.random(in: plan.faultPause, using: &random)))
            let fault = faults.popFirst() ?? Fault.allCases[random.below(Fault.allCases.count)]
            faultCounts[fault.rawValue, default: 0] += 1
            try await cause(fault, &random)
        }
    }

    private func cause(_ fault: Fault, _ random: inout SplitMix64) async throws {
        let device = devices[random.below(devices.count)]
        switch fault {
        case .device, .otherDevice: await device.kill()
        case .deviceAway: await device.kill { await self.waitUntilTrimmed() }
        case .node: try await restartNodes([random.below(2)])
        case .bothNodes: try await restartNodes([0, 1])
        case .database: try await cluster.crash(away: .milliseconds(200))
        case .log: await trim()
        }
    }

    private func restartNodes(_ numbers: [Int]) async throws {
        for number in numbers { try await nodes.kill(number) }
        try await Task.sleep(for: .milliseconds(300))
        for number in numbers { try await nodes.restart(number, within: .seconds(60)) }
    }

    /// Until the log has lost its oldest part, so that a cursor from before has expired. It keeps 3 s. Once the commands are
    /// over, nothing makes the log grow, and it may never lose a part.
    private func waitUntilTrimmed() async {
        try? await Task.sleep(for: .seconds(4))
        let deadline = ContinuousClock.now + .seconds(60)
        while await trim() == 0, !isOver, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Returns how many parts of the log were dropped: none while PostgreSQL is down.
    @discardableResult
    private func trim() async -> Int { (try? await log.trim()) ?? 0 }
}
