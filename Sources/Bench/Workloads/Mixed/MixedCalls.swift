// The calls of `parley bench mixed`: how often each is made, its request, and how its answer is checked.
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

    /// How many of a hundred calls are of this kind. An estimate of a busy chat: nearly every message is read, and
    /// sometimes a user scrolls back or returns from elsewhere.
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

    /// Checks an answer. An error that it throws is recorded as a fault.
    func check(_ answer: Answer) throws(BadResponse) {
        guard answer.status == expectedStatus else {
            throw BadResponse(description: "\(name) returned \(answer.status) \(answer.text.prefix(200))")
        }
        guard self != .read else { return }
        var walker = JSONWalker(answer.body)
        switch self {
        case .send: _ = try SeenMessage(&walker)
        case .page: try Self.checkPage(&walker)
        case .inbox:
            try walker.enterObject()
            guard let key = try walker.key(), key.equals("threads") else {
                throw BadResponse(description: "the inbox has no threads")
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

    /// Checks that the seqs of a page ascend without a hole.
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
                if let last, seq != last + 1 {
                    throw BadResponse(description: "in a page, seq \(seq) follows seq \(last)")
                }
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

/// A user, with the numbers of its threads in the run.
struct MixedPerson: Sendable {
    let account: Account
    let directThreads: [Int]
    let groups: [Int]
    let room: Int

    /// The thread of the next message: one in a hundred goes to the room of all, the others to small threads.
    func randomThread() -> Int {
        switch Int.random(in: 0..<100) {
        case 0: room
        case 1..<60: directThreads.randomElement() ?? room
        default: groups.randomElement() ?? room
        }
    }

    var allThreads: [Int] { directThreads + groups + [room] }
}
