// What people do in `parley bench mixed`, how often, and how each call looks and must be answered.
import Linux

/// A kind of call.
enum MixedCall: Int, CaseIterable, Sendable {
    case send, read, page, inbox

    var name: String {
        switch self {
        case .send: "send"
        case .read: "read"
        case .page: "page"
        case .inbox: "inbox"
        }
    }

    /// Of a hundred calls. Our guess at people in a busy chat: nearly every message that comes is read, and sometimes
    /// somebody scrolls back or comes back from elsewhere.
    private var share: Int {
        switch self {
        case .send: 40
        case .read: 40
        case .page: 12
        case .inbox: 8
        }
    }

    static func random() -> MixedCall {
        var dice = Int.random(in: 0..<100)
        for call in allCases {
            dice -= call.share
            if dice < 0 { return call }
        }
        return .send
    }

    /// Judges an answer; what it throws is noted as wrong.
    func check(_ answer: Answer) throws(BadResponse) {
        guard answer.status == expectedStatus else {
            throw BadResponse(description: "\(name) was answered \(answer.status) \(answer.text.prefix(200))")
        }
        guard self != .read else { return }
        var walker = JSONWalker(answer.body)
        switch self {
        case .send: _ = try SeenMessage(&walker)
        case .page: try Self.checkPage(&walker)
        case .inbox:
            try walker.enterObject()
            guard let key = try walker.key(), key.equals("threads") else {
                throw BadResponse(description: "an inbox without threads")
            }
        case .read: break
        }
    }

    private var expectedStatus: Int {
        switch self {
        case .send: 201
        case .read: 204
        case .page, .inbox: 200
        }
    }

    /// Ascending without a hole.
    private static func checkPage(_ walker: inout JSONWalker) throws(BadResponse) {
        var last: Int64?
        try walker.enterObject()
        while let key = try walker.key() {
            guard key.equals("messages") else {
                try walker.skip()
                continue
            }
            try walker.enterArray()
            while try walker.hasItem() {
                let seq = try SeenMessage(&walker).seq
                if let last, seq != last + 1 { throw BadResponse(description: "in a page \(seq) follows \(last)") }
                last = seq
            }
        }
    }
}

/// A thread of the run.
struct MixedThread: Sendable {
    let id: String
    let key: ThreadKey
}

/// Somebody, by numbers of the run's threads.
struct MixedPerson: Sendable {
    let account: Account
    let directThreads: [Int]
    let groups: [Int]
    let room: Int

    /// Where the next message goes: one in a hundred to everybody, the others to few.
    func randomThread() -> Int {
        switch Int.random(in: 0..<100) {
        case 0: room
        case 1..<60: directThreads.randomElement() ?? room
        default: groups.randomElement() ?? room
        }
    }

    var allThreads: [Int] { directThreads + groups + [room] }
}
