// Requests with an Idempotency-Key, repeated at two nodes that are killed.

import Foundation
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let creationCount = ProcessInfo.processInfo.environment["PARLEY_CREATIONS"].flatMap { Int($0) } ?? 60
    static var minutesMax: Int { 3 + creationCount / 200 }
}

extension SystemTests {
    @Suite("Repeated creations", .timeLimit(.minutes(Scale.minutesMax)))
    struct RepeatedCreations {
        private static let admin = Person(
            id: "", username: "", password: "", session: "", token: "admin-of-the-creations")

        /// The path and the body of creation `number`: a group, a message, a room or an account.
        private static func creation(_ number: Int, in thread: String) -> (path: String, body: JSON) {
            switch number % 4 {
            case 0: ("/v1/threads", ["kind": "group", "title": .string("Group \(number)")])
            case 1: ("/v1/threads/\(thread)/messages", ["payload": ["text": .string("Message \(number)")]])
            case 2: ("/v1/rooms", ["title": .string("Room \(number)")])
            default: ("/v1/admin/users", ["username": .string("user\(number)"), "name": .string("User \(number)")])
            }
        }

        @Test("make one of each and have equal answers, whatever is killed")
        func kills() async throws {
            let database = try await MigratedDatabase.create()
            let nodes = try await RestartableNodes.start(
                2, on: database,
                settings: ["PARLEY_ADMIN_TOKEN": Self.admin.token, "PARLEY_RATE_LIMITS": "off"])
            let first = Client(address: nodes.addresses[0])
            let ann = try await first.register("Ann")
            let thread = try await first.thread("group", by: ann, with: [])
            try await nodes.killInTurn(during: Scale.creationCount) { number in
                let (path, body) = Self.creation(number, in: thread)
                let person = path.contains("/admin/") ? Self.admin : ann
                var answers: [Answer] = []
                for attempt in 0..<400 where answers.count < 3 {
                    let answer = try? await Client(address: nodes.addresses[(number + attempt) % 2]).call(
                        "POST", path, body, as: person, headers: [("Idempotency-Key", "creation-\(number)")],
                        within: .seconds(5))
                    if let answer, answer.status < 300 {
                        answers.append(answer)
                    } else {
                        #expect([503, nil].contains(answer?.status), "\(String(describing: answer))")
                        try await Task.sleep(for: .milliseconds(50))
                    }
                }
                #expect(answers.map(\.status) == [201, 201, 201], "creation \(number)")
                #expect(Set(answers.map(\.body)).count == 1, "creation \(number): \(answers)")
                #expect(answers.dropFirst().allSatisfy { $0.headers["idempotent-replayed"] == "true" })
            }
            let counts = try await Psql.run(
                """
                select count(*), count(distinct title) from threads where title like 'Group %';
                select count(*), count(distinct title) from threads where title like 'Room %';
                select count(*), count(distinct payload ->> 'text') from messages where type = 'message';
                select count(*), count(distinct username) from users where username like 'user%';
                """, conninfo: database)
            let expected = [0, 2, 1, 3].map { kind in (0..<Scale.creationCount).filter { $0 % 4 == kind }.count }
            #expect(counts.split(separator: "\n").map { String($0) } == expected.map { "\($0)|\($0)" })
            try await nodes.stopAll()
        }
    }
}
