// One user of `parley bench mixed`: makes one call at a time and knows what its own poll has received.

final class MixedCaller: ConnectionOwner {
    /// The lower half of a message's id holds the start of its send: 62 bits of nanoseconds below a UUID's variant.
    static let noteMask: UInt64 = 1 << 62 - 1

    let poller: PolledDevice
    private unowned let owner: MixedLoop
    private let person: MixedPerson
    private let credentials: [UInt8]
    private let threadIDs: [Int: [UInt8]]
    private lazy var connection = Connection(owner.loop, endpoint, owner: self)
    private let endpoint: Endpoint
    private var call: MixedCall?
    private var began = MonotonicTime.now

    init(_ owner: MixedLoop, _ person: MixedPerson, _ poller: PolledDevice, _ endpoint: Endpoint) {
        self.owner = owner
        self.person = person
        self.poller = poller
        self.endpoint = endpoint
        credentials = Array(
            " HTTP/1.1\r\nHost: \(endpoint.authority)\r\nAuthorization: Bearer \(person.account.token)\r\n".utf8)
        threadIDs = Dictionary(
            uniqueKeysWithValues: Set(person.allThreads).map { ($0, Array(owner.plan.stage.threads[$0].id.utf8)) })
    }

    var isBusy: Bool { call != nil }

    func stop() { connection.close() }

    /// The poll has received all messages up to these heads.
    func hasAll(_ heads: [ThreadKey: Int64]) -> Bool {
        poller.deliveries.threads.allSatisfy { thread, stretch in stretch.last >= heads[thread] ?? 0 }
    }

    func call(_ wanted: MixedCall) {
        // A user that has received nothing in a thread has nothing to read there, and sends instead.
        let thread = person.randomThread()
        let last = poller.deliveries.threads[owner.plan.stage.threads[thread].key]?.last ?? 0
        let call = last == 0 && (wanted == .read || wanted == .page) ? .send : wanted
        self.call = call
        began = .now
        var request = RequestWriter(owner.loop.requestSpace)
        let id = threadIDs[thread] ?? []
        switch call {
        case .send: write(&request, "POST", id, "/messages", body: messageBody())
        case .read: write(&request, "PUT", id, "/receipts", body: "{\"read\":\(last)}")
        case .page: write(&request, "GET", id, "/messages?limit=30&before=\(last + 1)", body: nil)
        case .inbox:
            request.write("GET /v1/inbox")
            request.write(credentials)
            request.write("\r\n")
        }
        connection.send(request.written)
    }

    private func messageBody() -> String {
        let digits = String(UInt64(began.nanoseconds) & Self.noteMask | 1 << 63, radix: 16)
        let id = "\(Self.half())-\(digits.prefix(4))-\(digits.dropFirst(4))"
        return "{\"id\":\"\(id)\",\"payload\":{\"text\":\"\(owner.plan.text)\"}}"
    }

    /// The upper half of an id: random, as in version 4.
    private static func half() -> String {
        let digits = String(UInt64.random(in: 1 << 60...UInt64.max) & ~0xf000 | 0x4000, radix: 16)
        return "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(4))-\(digits.suffix(4))"
    }

    private func write(
        _ request: inout RequestWriter, _ method: StaticString, _ thread: [UInt8], _ rest: String, body: String?
    ) {
        request.write(method)
        request.write(" /v1/threads/")
        request.write(thread)
        request.write(Array(rest.utf8))
        request.write(credentials)
        if let body {
            request.write("Content-Type: application/json\r\nContent-Length: ")
            request.write(body.utf8.count)
            request.write("\r\n\r\n")
            request.write(Array(body.utf8))
        } else {
            request.write("\r\n")
        }
    }

    func connection(_ connection: Connection, received answer: Answer) {
        guard let call else { return }
        let now = MonotonicTime.now
        owner.plan.meters[call.rawValue].record(nanoseconds: now - began, isMeasured: owner.isMeasured(began))
        do {
            try call.check(answer)
        } catch {
            owner.record("\(error)")
        }
        self.call = nil
    }

    func connection(_ connection: Connection, failed failure: ConnectionFailure) {
        owner.record("\(call?.name ?? "a call") failed: \(failure)")
        call = nil
    }
}
