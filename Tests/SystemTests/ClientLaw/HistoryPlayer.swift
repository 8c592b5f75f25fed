// Plays histories: people, their devices, and the threads and messages they made.

import TestSupport
import Testing

/// Some people with two devices each, on some nodes. Plays a history a few operations at a time, which happen at once.
struct HistoryPlayer: Names, Sendable {
    private static let names = ["Ann", "Ben", "Cleo", "Dan"]
    static let personCount = names.count
    static let deviceCount = 2 * personCount

    enum Part: Sendable { case invited, joined }

    /// A thread as the answers show it: enough to choose operations that are mostly possible.
    struct Thread: Sendable {
        let id: String
        let isDirect: Bool
        var parts: [Int: Part]
        var messages: [Int] = []
    }

    struct Message: Sendable {
        let id: String
        let thread: Int
        let person: Int
    }

    let people: [Person]
    let population: [String]
    private(set) var devices: [FoldingDevice] = []
    /// By device and node: `callers` for operations, `followers` to follow the log.
    private let callers: [[Connection]]
    private let followers: [[Connection]]
    private(set) var threads: [Int: Thread] = [:]
    private(set) var messages: [Int: Message] = [:]
    /// The number of accepted operations, by name.
    private(set) var doneCounts: [String: Int] = [:]

    init(at addresses: [Address], population: [String], recordedDevice: Int? = nil) async throws {
        let connection = Connection(addresses[0])
        var people: [Person] = []
        for name in Self.names {
            let person = try await connection.register(name)
            people += [person, try await connection.logIn(again: person)]
        }
        self.people = people
        self.population = population
        callers = people.map { _ in addresses.map(Connection.init) }
        followers = people.map { _ in addresses.map(Connection.init) }
        for (number, person) in people.enumerated() {
            let isRecorded = number == recordedDevice
            devices.append(try await FoldingDevice(number, person, at: connection, isRecorded: isRecorded))
        }
    }

    var doneCount: Int { doneCounts.values.reduce(0, +) }

    static func person(_ device: Int) -> Int { device / 2 }

    func user(_ person: Int) -> String { people[2 * person].id }
    func thread(_ number: Int) -> String? { threads[number]?.id }
    func message(_ number: Int) -> String? { messages[number]?.id }

    // MARK: Playing

    /// Plays some operations at once. No two of them may change the inbox of the same device.
    /// - Throws: `Difference` if an operation compares inboxes and they differ.
    mutating func play(_ operations: [Operation]) async throws {
        let before = self
        let outcomes = try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (index, operation) in operations.enumerated() {
                group.addTask { (index, try await before.outcome(of: operation)) }
            }
            var outcomes: [(Int, Outcome)] = []
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
        }
        for (operation, outcome) in zip(operations, outcomes) { try note(operation, outcome) }
    }

    /// Compares all devices.
    mutating func checkAll() async throws {
        for number in devices.indices {
            if let difference = try await devices[number].check(at: followers[number][number % followers[number].count])
            {
                throw difference
            }
        }
    }

    /// Adds the content of all stored messages to the recordings.
    mutating func expectMessages() {
        for number in devices.indices { devices[number].expectMessages() }
    }

    private enum Outcome: Sendable {
        case answer(Answer)
        case device(FoldingDevice)
        case difference(Difference)
        case nothing
    }

    private func outcome(of operation: Operation) async throws -> Outcome {
        let follower = followers[operation.device][operation.node]
        var device = devices[operation.device]
        switch operation.kind {
        case .poll(let pages, let limit, let waitS):
            try await device.follow(pages: pages, limit: limit, waitS: waitS, at: follower)
        case .reload: try await device.reload(at: follower)
        case .scroll(let thread, let limit):
            guard let thread = threads[thread] else { return .nothing }
            let before = device.fold.messages(of: thread.id).first?["seq"].int
            try await device.scroll(thread.id, before: before, limit: limit, at: follower)
        case .disconnect:
            await follower.close()
            return .nothing
        case .check:
            if let difference = try await device.check(at: follower) { return .difference(difference) }
        case .thread(let thread, .deleteLast(let forAll)):
            return try await deleteLast(in: thread, forAll: forAll, operation)
        default:
            guard let call = operation.call(self) else { return .nothing }
            return .answer(try await send(call, operation))
        }
        return .device(device)
    }

    private func send(_ call: Operation.Call, _ operation: Operation) async throws -> Answer {
        let caller = callers[operation.device][operation.node]
        return try await caller.call(call.method, call.path, call.body, as: people[operation.device])
    }

    private func deleteLast(in thread: Int, forAll: Bool, _ operation: Operation) async throws -> Outcome {
        guard let id = threads[thread]?.id else { return .nothing }
        let path = "/v1/threads/\(id)/messages"
        let page = try await send(Operation.Call(method: "GET", path: path + "?limit=1"), operation)
        guard let last = page.json["messages"][0]["id"].string else { return .nothing }
        let query = "?for=\(forAll ? "everyone" : "me")"
        return .answer(try await send(Operation.Call(method: "DELETE", path: "\(path)/\(last)\(query)"), operation))
    }

    // MARK: Recording outcomes

    private mutating func note(_ operation: Operation, _ outcome: Outcome) throws {
        switch outcome {
        case .nothing: break
        case .device(let device): devices[device.number] = device
        case .difference(let difference): throw difference
        case .answer(let answer):
            guard answer.status < 500 else { throw TimedOut(description: "\(operation): \(answer)") }
            if answer.status < 300 {
                doneCounts[operation.name, default: 0] += 1
                note(operation, answer.json)
            }
        }
    }

    private mutating func note(_ operation: Operation, _ answer: JSON) {
        let person = Self.person(operation.device)
        switch operation.kind {
        case .openGroup(let others, let invite, _): open(answer, operation, others, invite ? .invited : .joined)
        case .openDirect(let other, let invite): open(answer, operation, [other], invite ? .invited : .joined)
        case .openRoom: open(answer, operation, [], .joined)
        case .thread(let thread, let kind): note(kind, in: thread, by: person, operation.number, answer)
        case .profile, .message, .poll, .reload, .scroll, .disconnect, .check: break
        }
    }

    private mutating func open(_ answer: JSON, _ operation: Operation, _ others: [Int], _ part: Part) {
        let id = answer["id"].string ?? ""
        let person = Self.person(operation.device)
        // An existing direct thread keeps its number.
        if let standing = threads.first(where: { $0.value.id == id })?.key {
            threads[standing]?.parts[person] = .joined
            return
        }
        var parts = Dictionary(others.map { ($0, part) }) { $1 }
        parts[person] = .joined
        threads[operation.number] = Thread(id: id, isDirect: answer["kind"] == "direct", parts: parts)
    }

    private mutating func note(
        _ kind: Operation.ThreadKind, in thread: Int, by person: Int, _ number: Int, _ answer: JSON
    ) {
        switch kind {
        case .send:
            messages[number] = Message(id: answer["id"].string ?? "", thread: thread, person: person)
            threads[thread]?.messages.append(number)
        case .invite(let other), .add(let other):
            threads[thread]?.parts[other] = answer["status"] == "invited" ? .invited : .joined
        case .join: threads[thread]?.parts[person] = .joined
        case .leave: threads[thread]?.parts[person] = nil
        case .remove(let other): threads[thread]?.parts[other] = nil
        case .deleteLast, .read, .delivered, .unread, .settings, .rename, .image, .retention, .role: break
        }
    }
}
