// The guarantees of sending, with several nodes at once.

import Testing

extension SystemTests {
    @Suite("Sending from both nodes at once", .timeLimit(.minutes(3)))
    struct SendingFromBothNodes: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

        @Test("creates one message and one event for an id, however often it is sent", arguments: 1...5)
        func sameID(round: Int) async throws {
            let cursor = try await nodes.a.client.cursor(of: bob)
            let id = newID()
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for number in 0..<20 {
                    let connection = Connection(nodes.addresses[number % 2])
                    group.addTask { try await connection.say("once", in: thread, as: ann, id: id) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.status).sorted() == Array(repeating: 200, count: 19) + [201])
            #expect(Set(answers.map(\.json)).count == 1)
            #expect(answers[0].json["id"].string == id)
            for node in [nodes.a, nodes.b] {
                let events = try await Follower.replay(bob, from: cursor, on: node.address)
                #expect(events.filter { $0["type"] == "message.created" }.map { $0["data"] } == [answers[0].json])
                #expect(try await node.client.history(of: thread, as: bob).map { $0["id"].string } == [id])
            }
        }

        @Test("accepts one of two people who choose the same id, and answers the other with a conflict")
        func sameIDByTwo() async throws {
            for _ in 1...5 {
                let id = newID()
                async let one = Connection(nodes.a.address).say("mine", in: thread, as: ann, id: id)
                async let other = Connection(nodes.b.address).say("mine", in: thread, as: bob, id: id)
                let answers = try await [one, other]
                #expect(answers.map(\.status).sorted() == [201, 409])
                #expect(answers.first { $0.status == 409 }?.code == "id_taken")
            }
        }

        @Test("numbers the messages of 32 writers without a gap, in the order in which all receive them")
        func dense() async throws {
            let cursor = try await nodes.a.client.cursor(of: bob)
            let sent = try await withThrowingTaskGroup(of: [Answer].self) { group in
                for number in 0..<32 {
                    let connection = Connection(nodes.addresses[number % 2])
                    let sender = number % 4 < 2 ? ann : bob
                    group.addTask {
                        var answers: [Answer] = []
                        for step in 0..<20 {
                            answers.append(try await connection.say("\(step)", in: thread, as: sender))
                        }
                        return answers
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sent.joined().allSatisfy { $0.status == 201 })
            // The messages of each writer arrive in the order in which it sent them.
            for answers in sent {
                let seqs = answers.compactMap { $0.json["seq"].int }
                #expect(seqs == seqs.sorted())
            }
            let history = try await nodes.b.client.history(of: thread, as: ann)
            #expect(history.compactMap { $0["seq"].int } == Array(1...640))
            for node in [nodes.a, nodes.b] {
                let events = try await Follower.replay(bob, from: cursor, on: node.address)
                #expect(
                    events.filter { $0["type"] == "message.created" }.map { $0["data"]["seq"].int } == Array(1...640))
            }
        }

        @Test("opens one direct thread when two people open it at the same time")
        func onePair() async throws {
            let cleo = try await nodes.a.client.register("Cleo")
            let dan = try await nodes.b.client.register("Dan")
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for number in 0..<8 {
                    let (creator, other) = number % 2 == 0 ? (cleo, dan) : (dan, cleo)
                    let connection = Connection(nodes.addresses[number / 2 % 2])
                    let body: JSON = ["kind": "direct", "members": [.string(other.id)]]
                    group.addTask { try await connection.post("/v1/threads", body, as: creator) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.status).sorted() == Array(repeating: 200, count: 7) + [201])
            #expect(Set(answers.map { $0.json["id"] }).count == 1)
        }

        @Test("registers a username once when many register it at the same time")
        func oneName() async throws {
            let body: JSON = ["username": .string(unique("eve")), "password": "correct horse battery", "name": "Eve"]
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for number in 0..<6 {
                    let connection = Connection(nodes.addresses[number % 2])
                    group.addTask { try await connection.post("/v1/auth/register", body) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.map(\.status).sorted() == [201, 409, 409, 409, 409, 409])
        }
    }
}
