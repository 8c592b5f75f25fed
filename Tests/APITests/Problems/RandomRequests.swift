// Randomly broken requests, the same in every run.
import API
import Domain
import TestSupport
import Testing

@Suite("Random requests", .timeLimit(.minutes(1)))
struct RandomRequests {
    /// A person, a thread of theirs, and valid bodies for all calls.
    private struct Ground {
        let person: Person
        let thread: String
        let message: String
        let bodies: [String]

        init() async throws {
            person = try await Person.make()
            thread = try await person.group()
            message = try await person.say("hi", in: thread).string("id")
            bodies = [
                #"{"id":"\#(message)","type":"message","payload":{"text":"é"},"reply_to":"\#(message)","mentions":[]}"#,
                #"{"type":"location","payload":{"latitude":1,"longitude":2,"accuracy_m":3,"label":"x"}}"#,
                #"{"kind":"group","title":"T","members":["\#(person.id)"],"invite":false,"retention":{"keep":"forever"}}"#,
                #"{"kind":"room","title":"T"}"#, #"{"title":"T"}"#,
                #"{"kind":"direct","members":["\#(person.id)"]}"#,
                #"{"receipts":[{"thread_id":"\#(thread)","read":1,"delivered":1}]}"#, #"{"read":1,"delivered":1}"#,
                #"{"username":"x","password":"12345678","name":"N","device_name":"d"}"#,
                #"{"email":"a@b.c","name":"N"}"#, #"{"email":"a@b.c","code":"1"}"#, #"{"token":"t"}"#,
                #"{"name":"N","profile_image":null,"status_text":"s","preferences":{"push":"full"}}"#,
                #"{"role":"member","status":"joined"}"#, #"{"title":"T","image":null,"retention":{"keep":"forever"}}"#,
                #"{"muted_until":"2030-01-01T00:00:00Z","archived":true,"pinned":false,"hidden_before_seq":1}"#,
            ]
        }

        func path(_ pattern: String, _ random: inout SplitMix64) -> String {
            pattern.replacing("{thread_id}", with: random.chance(8) ? "x" : thread)
                .replacing("{message_id}", with: random.chance(4) ? MessageID.make().description : message)
                .replacing("{user_id}", with: random.chance(2) ? "me" : person.id)
                .replacing("{session_id}", with: SessionID.make().description)
        }
    }

    @Test("never get a 500 for changed bytes")
    func changesBytes() async throws {
        try await send(400) { text, random in
            var body = Array(text.utf8)
            for _ in 0..<random.below(4) where !body.isEmpty {
                let at = random.below(body.count)
                switch random.below(4) {
                case 0: body[at] = UInt8(random.below(256))
                case 1: body.remove(at: at)
                case 2: body.insert(contentsOf: Array(#""\u0000\ud800{[:,9e999"#.utf8).prefix(random.below(12)), at: at)
                default: body.removeLast(body.count - at)
                }
            }
            return body
        }
    }

    @Test("never get a 500 for values of other types")
    func changesValues() async throws {
        try await send(600) { text, random in
            try JSONReader.read(Array(text.utf8)).changed(&random).compactText.utf8
        }
    }

    private func send(_ count: Int, _ change: (String, inout SplitMix64) throws -> [UInt8]) async throws {
        let ground = try await Ground()
        let routes = try await TestNode.shared().routes.filter {
            // Leaves out calls that wait, and calls that would remove the test's people and threads.
            ![OperationID.sync, .logout, .deleteMember].contains($0.operation)
        }
        var random = SplitMix64(freshFor: "random requests")
        for round in 0..<count {
            let route = routes[round % routes.count]
            var path = ground.path(route.pattern, &random)
            if random.chance(4) {
                path += "?limit=\(random.below(300))&page=\(random.next())&before=%\(random.below(99))"
            }
            let body = try change(ground.bodies[random.below(ground.bodies.count)], &random)
            let reply = try await ground.person.client.send(route.method.rawValue, path, bytes: body)
            #expect(reply.status != 500, "\(route.operation): \(String(decoding: body, as: UTF8.self))")
            // An answer to HEAD has no body.
            if reply.status >= 400, route.method != .head { #expect(reply.problemCode != nil, "\(reply.text)") }
        }
    }
}

extension JSONValue {
    /// Returns the same value with one part replaced at random.
    fileprivate func changed(_ random: inout SplitMix64) -> JSONValue {
        switch self {
        case .object(var members) where !members.isEmpty && !random.chance(8):
            let at = random.below(members.count)
            if random.chance(8) {
                members.remove(at: at)
            } else {
                members[at].value = members[at].value.changed(&random)
            }
            return .object(members)
        case .array(var items) where !items.isEmpty && !random.chance(3):
            let at = random.below(items.count)
            items[at] = items[at].changed(&random)
            return .array(items)
        default:
            let others: [JSONValue] = [
                .null, .bool(true), .integer(0), .integer(Int64.max), .double(-1.5e300), .string(""),
                .string("direct"),
                .string("\u{10ffff}\u{feff}"), .string(String(repeating: "é", count: 300)), .array([]), .array([.null]),
                .object([]), .object([Member("text", .null)]), .string("018f3c2a-1234-7abc-8def-0123456789ab"),
            ]
            return others[random.below(others.count)]
        }
    }
}
