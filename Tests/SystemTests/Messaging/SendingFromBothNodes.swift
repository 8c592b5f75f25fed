// The guarantees of sending, with several nodes at once.

import Testing

extension SystemTests {
    @Suite("Sending from both nodes at once", .timeLimit(.minutes(3)))
    struct SendingFromBothNodes: DirectThreadSuite {
        let direct: DirectThread

        init() async throws { direct = try await DirectThread() }

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
