// Ten thousand requests over all routes, most of them partly invalid: none causes a server fault, and memory does not
// grow. For longer runs: FUZZ_REQUESTS=1000000 PARLEY_SEED=7 swift test --filter SystemTests/FuzzingRequests

import Foundation
import Synchronization
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let environment = ProcessInfo.processInfo.environment
    static let requestCount = environment["FUZZ_REQUESTS"].flatMap { Int($0) } ?? 10_000
    static var minutesMax: Int { 3 + requestCount / 5_000 }
}

extension SystemTests {
    @Suite("Fuzzing all routes", .timeLimit(.minutes(Scale.minutesMax)))
    struct FuzzingRequests {
        private static let connectionCount = 4
        /// The allowed growth after the first fifth of the requests. Memory that the allocator keeps after the largest
        /// bodies, and first uses of hash tables and plans. Measured: 1. A leak of 2 KiB a request would be 16.
        private static let growthMaxMiB = 12

        @Test("returns only documented answers, and the node's memory does not grow")
        func overAllRoutes() async throws {
            let seed = Seed.fresh("fuzzing all routes")
            let node = try await Node.start(
                database: try await MigratedDatabase.create(),
                settings: [
                    "PARLEY_RATE_LIMITS": "off", "PARLEY_ADMIN_TOKEN": FuzzedRequests.adminToken,
                    "PARLEY_CORS_ORIGINS": "https://chat.example", "PARLEY_SLOW_REQUEST_MS": "0",
                ])
            let api = try await DescribedAPI(node)
            let tally = FuzzTally(api)
            let warmUp = Scale.requestCount / 5
            try await send(warmUp, seed: seed, to: node, api, tally)
            let before = node.residentMemoryMiB
            try await send(Scale.requestCount - warmUp, seed: ~seed, to: node, api, tally)
            let after = node.residentMemoryMiB
            print(
                "PARLEY_SEED=\(seed): \(tally.description); \(before) MiB after \(warmUp), \(after) MiB in the end")
            #expect(tally.mistakes.isEmpty, "PARLEY_SEED=\(seed): \(tally.mistakes.joined(separator: "\n\n"))")
            #expect(tally.missing.isEmpty, "no request got through to \(tally.missing)")
            #expect(after - before <= Self.growthMaxMiB, "PARLEY_SEED=\(seed): from \(before) to \(after) MiB")
            #expect(!node.program.errors.contains(" error "), "\(node.program.errors)")
            // The node still serves requests.
            let ground = try await FuzzTargets(node.client)
            #expect(try await node.client.sync(ground.bob, from: ground.cursor).status == 200)
            #expect(try await node.client.get("/health/ready").status == 200)
            try await node.stop()
        }

        private func send(
            _ count: Int, seed: UInt64, to node: Node, _ api: DescribedAPI, _ tally: FuzzTally
        ) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.connectionCount {
                    group.addTask {
                        try await Self.converse(
                            count / Self.connectionCount, seed: seed &+ UInt64(number), with: node, api, tally)
                    }
                }
                try await group.waitForAll()
            }
        }

        private static func converse(
            _ count: Int, seed: UInt64, with node: Node, _ api: DescribedAPI, _ tally: FuzzTally
        ) async throws {
            let connection = Connection(node.address)
            var requests = FuzzedRequests(
                random: SplitMix64(seed: seed), api: api, ground: try await FuzzTargets(connection))
            for _ in 0..<count {
                let request = requests.next()
                do {
                    let answer = try await connection.send(request)
                    tally.check(request, answer, node)
                    // A person's token is not valid for the operator's calls.
                    let isSignedOut =
                        answer.status == 401 && !request.path.hasPrefix("/v1/admin")
                        && request.headers.contains {
                            $0.value == "Bearer " + requests.ground.ann.token
                                || $0.value == "Bearer " + requests.ground.bob.token
                        }
                    if isSignedOut { requests.ground = try await FuzzTargets(connection) }
                } catch let error as Connection.Failure {
                    tally.fail("\(error): \(Client.reproduction(request, node.address))")
                    await connection.close()
                }
            }
        }
    }
}

/// The outcomes of the requests, over all connections.
final class FuzzTally: Sendable {
    private static let mistakeCountMax = 20

    private struct State {
        var byStatus: [Int: Int] = [:]
        var mistakes: [String] = []
    }

    private let api: DescribedAPI
    private let state = Mutex(State())

    init(_ api: DescribedAPI) { self.api = api }

    var mistakes: [String] { state.withLock { $0.mistakes } }

    var description: String {
        let counts = state.withLock { $0.byStatus }
        let total = counts.values.reduce(0, +)
        return "\(total) answers over \(api.routes.count) routes, "
            + counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }

    /// Statuses that prove that requests pass the first checks, and that never occurred. Problem codes may be missing.
    var missing: [Int] { state.withLock { state in [200, 201, 204, 404, 422].filter { state.byStatus[$0] == nil } } }

    func fail(_ mistake: String) {
        state.withLock { if $0.mistakes.count < Self.mistakeCountMax { $0.mistakes.append(mistake) } }
    }

    func check(_ request: Request, _ answer: Answer, _ node: Node) {
        state.withLock { $0.byStatus[answer.status, default: 0] += 1 }
        if let mistake = mistake(in: answer, to: request) {
            fail("\(mistake): \(Client.reproduction(request, node.address))\n-> \(answer)")
        }
    }

    private func mistake(in answer: Answer, to request: Request) -> String? {
        let isHead = request.method == "HEAD"
        if answer.headers["x-content-type-options"] != "nosniff" { return "no nosniff" }
        if isHead, !answer.body.isEmpty { return "a body to HEAD" }
        guard answer.status >= 400 else { return nil }
        if answer.headers["content-type"] != "application/problem+json" { return "no problem document" }
        if isHead { return answer.status >= 500 && answer.status != 503 ? "a fault" : nil }
        guard let code = answer.code, api.codes.contains(code) else { return "a problem code that is not documented" }
        // Two of the fuzzer's connections may write exports, which is all that a node does at a time.
        let isExpected = code == "mail_not_configured" || code == "overloaded" && request.path.contains("/export")
        if answer.status >= 500, !isExpected { return "a fault" }
        let json = answer.json
        guard json["status"].int == answer.status, json["title"].string != nil, json["detail"].string != nil,
            json["type"].string?.hasSuffix(code) == true
        else { return "no whole problem document" }
        // An archive's mistake is in a line, not in a field.
        let hasPlace = request.path.hasPrefix("/v1/admin/import") ? json["line"].int != nil : false
        if answer.status == 422, json["errors"].items.isEmpty, !hasPlace { return "no field named" }
        if answer.status == 405, answer.headers["allow"]?.isEmpty != false { return "no Allow" }
        if [429, 503].contains(answer.status), answer.headers["retry-after"] == nil { return "no Retry-After" }
        return nil
    }
}
