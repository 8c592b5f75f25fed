// Messages that wait because many others are checked: what a busy account can do to others, and what it gets itself.
import Domain
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import API

@Suite("Messages that wait for the policy", .timeLimit(.minutes(1)))
struct WaitingForThePolicy {
    /// A policy whose answers the test releases.
    private final class Policy: Sendable {
        private let asked = Mutex((questions: [CheckedContinuation<Void, Never>](), isOver: false))

        var count: Int { asked.withLock { $0.questions.count } }

        func ask() async -> Result<PolicyReply, PolicyFailure> {
            await withCheckedContinuation { continuation in
                let waits = asked.withLock { asked in
                    if !asked.isOver { asked.questions.append(continuation) }
                    return !asked.isOver
                }
                if !waits { continuation.resume() }
            }
            return .success(PolicyReply(status: 200, body: Array(#"{"action":"allow"}"#.utf8)))
        }

        func answerAll() {
            let questions = asked.withLock { asked in
                defer { asked.questions = [] }
                return asked.questions
            }
            for question in questions { question.resume() }
        }

        /// From now on every question is answered at once, so that a failed test ends.
        func end() {
            asked.withLock { $0.isOver = true }
            answerAll()
        }
    }

    private let policy = Policy()
    private let metrics = PolicyMetrics()
    private let ann = UserID.make()
    private let bob = UserID.make()

    private func gate(waitMax: Duration = .seconds(60), failsClosed: Bool = false) -> PolicyGate {
        PolicyGate(
            failsClosed: failsClosed, limits: Limits(), metrics: metrics, waitMax: waitMax,
            logger: .quiet, ask: { [policy] _ in await policy.ask() })
    }

    private func question(of sender: UserID) -> PolicyQuestion {
        PolicyQuestion(
            sender: JSONText(utf8: Array("{}".utf8)), thread: JSONText(utf8: Array("{}".utf8)),
            message: NewMessage(
                id: .make(), thread: .make(), sender: sender, type: MessageType.message.text,
                payload: JSONText(utf8: Array(#"{"text":"hi"}"#.utf8))), type: .message, isEdit: false)
    }

    @Test("are asked about four at a time of an account, while those of others are asked about at once")
    func flows() async throws {
        let gate = gate()
        try await withThrowingTaskGroup(of: PolicyVerdict.Action?.self) { group in
            defer { policy.end() }
            for _ in 0..<20 { group.addTask { try await gate.verdict(about: question(of: ann))?.action } }
            try await eventually("four questions and sixteen in line") {
                policy.count == 4 && gate.load == (busy: 4, waiting: 16)
            }
            group.addTask { try await gate.verdict(about: question(of: bob))?.action }
            try await eventually("Bob's question") { policy.count == 5 }
            while gate.load.busy > 0 {
                policy.answerAll()
                await Task.yield()
            }
            for try await action in group { #expect(action == .allow) }
        }
        #expect(gate.load == (busy: 0, waiting: 0))
    }

    @Test("are refused with 429 beyond the account's line, and after the longest wait, though the policy fails open")
    func refusals() async throws {
        let gate = gate(waitMax: .milliseconds(50))
        try await withThrowingTaskGroup(of: ProblemCode?.self) { group in
            defer { policy.end() }
            for _ in 0..<300 {
                group.addTask {
                    do {
                        _ = try await gate.verdict(about: question(of: ann))
                        return nil
                    } catch let problem as Problem {
                        return problem.code
                    }
                }
            }
            var refusedCount = 0
            while refusedCount < 296, let code = try await group.next() {
                #expect(code == .rateLimited)
                refusedCount += 1
            }
            try await eventually("four questions") { policy.count == 4 }
            policy.answerAll()
            for try await code in group { #expect(code == nil) }
        }
        // Waiting was nobody's failure: the policy is asked as before.
        let isPaused = metrics.paused.value == 1
        #expect(!isPaused)
        #expect(metrics.failures[.overloaded] == 296 && metrics.failures[.timeout] == 0)
    }

    @Test("never pass unasked because another account sends a lot")
    func flood() async throws {
        // A question of Ann's takes two seconds. With all of them in one line, most would time out.
        let stage = try await PolicyStage(nodeCount: 1) { $0.policyTimeoutMs = 10_000 }
        let (ann, bob, thread) = try await stage.people()
        let ended = Tally()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<400 { group.addTask { try await ann.client.say("slow x", in: thread).status } }
            let others = Task {
                var statuses: [Int] = []
                while ended.value == 0 {
                    statuses.append(try await bob.client.say("deny", in: thread).status)
                }
                return statuses
            }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            ended.add()
            #expect(try await others.value.allSatisfy { $0 == 403 })
            return statuses
        }
        #expect(statuses.allSatisfy { $0 == 201 || $0 == 429 }, "\(statuses)")
        #expect(statuses.count { $0 == 201 } >= 4)
        let metrics = try await Client(port: stage.nodes[0].port).get("/metrics").text
        #expect(metrics.contains("parley_policy_failures_total{reason=\"timeout\"} 0\n"))
    }
}
