// The network between a device under test and the nodes: a test cuts it, holds requests, and answers in the server's place.

import Foundation
import Parley
import Synchronization
import TestSupport

final class Wire: HTTPTransport {
    /// What happens to a request.
    enum Fate: Sendable {
        /// The server never receives it.
        case answer(HTTPResponse)
        /// The server receives it, and its answer is lost.
        case loseAnswer
        /// It waits here until `release`.
        case holdRequest
        /// The server receives it, and its answer waits here until `release`.
        case holdAnswer
    }

    /// A request that left the device.
    struct Sent: Sendable {
        let request: HTTPRequest
        let time = ContinuousClock.now
        /// Nil until an answer has come.
        var status: Int?

        var path: String { request.url.path }
    }

    private struct Rule {
        let method: String
        let suffix: String
        let fate: Fate
        var skips: Int
        var times: Int
    }

    private struct State {
        var isCut: Bool
        var isHolding = true
        var rules: [Rule] = []
        var sent: [Sent] = []
        var inFlight: [Int: Task<HTTPResponse, any Error>] = [:]
    }

    private let inner = SystemTransport()
    private let state: Mutex<State>

    init(isCut: Bool = false) { state = Mutex(State(isCut: isCut)) }

    /// No request reaches the server from now on, and requests in flight get no answer.
    func cut() {
        let tasks = state.withLock { state in
            state.isCut = true
            return Array(state.inFlight.values)
        }
        for task in tasks { task.cancel() }
    }

    func mend() { state.withLock { $0.isCut = false } }

    /// Decides what happens to the next `times` requests of this method whose path ends so, after the first `skips`.
    func meet(_ method: String, _ suffix: String, after skips: Int = 0, times: Int = 1, with fate: Fate) {
        let rule = Rule(method: method, suffix: suffix, fate: fate, skips: skips, times: times)
        state.withLock { state in
            state.isHolding = true
            state.rules.append(rule)
        }
    }

    /// Lets pass what is held now.
    func release() { state.withLock { $0.isHolding = false } }

    /// The requests so far of this method whose path ends so.
    func sent(_ method: String, _ suffix: String) -> [Sent] {
        state.withLock { $0.sent.filter { $0.request.method == method && $0.path.hasSuffix(suffix) } }
    }

    /// Waits until as many such requests have left the device.
    func wait(for count: Int = 1, _ method: String, _ suffix: String) async throws {
        try await eventually("\(count) requests \(method) …\(suffix)") {
            sent(method, suffix).count >= count
        }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (number, fate) = try begin(request)
        switch fate {
        case .answer(let answer)?: return answer
        case .holdRequest?: try await hold()
        default: break
        }
        let task = Task { [inner] in try await inner.send(request) }
        let isCut = state.withLock { state in
            state.inFlight[number] = task
            return state.isCut
        }
        if isCut { task.cancel() }
        defer { state.withLock { $0.inFlight[number] = nil } }
        do {
            let answer = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
            switch fate {
            case .loseAnswer?: throw ParleyError.noAnswer("the test lost the answer")
            case .holdAnswer?: try await hold()
            default: break
            }
            state.withLock { $0.sent[number].status = answer.status }
            return answer
        } catch is CancellationError {
            try Task.checkCancellation()
            throw ParleyError.noAnswer("the test cut the network")
        }
    }

    private func begin(_ request: HTTPRequest) throws -> (number: Int, fate: Fate?) {
        try state.withLock { state in
            guard !state.isCut else { throw ParleyError.noAnswer("the test cut the network") }
            state.sent.append(Sent(request: request))
            let path = request.url.path
            let index = state.rules.firstIndex { rule in
                rule.times > 0 && rule.method == request.method && path.hasSuffix(rule.suffix)
            }
            guard let index else { return (state.sent.count - 1, nil) }
            guard state.rules[index].skips == 0 else {
                state.rules[index].skips -= 1
                return (state.sent.count - 1, nil)
            }
            state.rules[index].times -= 1
            return (state.sent.count - 1, state.rules[index].fate)
        }
    }

    private func hold() async throws {
        while state.withLock({ $0.isHolding }) { try await Task.sleep(for: .milliseconds(2)) }
    }
}

extension HTTPResponse {
    /// A refusal as a node writes it.
    static func refusal(_ status: Int, _ code: String, _ more: JSON = [:], retryAfter: Int? = nil) -> HTTPResponse {
        var fields: [String: JSON] = [
            "code": .string(code), "status": .init(status), "detail": "As the test wants it.",
        ]
        if case .object(let more) = more { fields.merge(more) { $1 } }
        var headers = ["content-type": "application/problem+json"]
        headers["retry-after"] = retryAfter.map(String.init)
        return HTTPResponse(status: status, headers: headers, body: JSON.object(fields).data)
    }
}
