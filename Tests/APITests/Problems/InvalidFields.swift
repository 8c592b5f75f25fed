// JSON bodies with invalid contents: unknown keys, wrong types, missing, too long, out of place.
import Domain
import Testing

@Suite("An invalid field", .timeLimit(.minutes(1)))
struct InvalidFields {
    private let stage: ProblemStage

    init() async throws { stage = try await ProblemStage() }

    private static func letters(_ count: Int, _ letter: String = "a") -> String {
        String(repeating: letter, count: count)
    }

    private func message(
        _ body: String, _ field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) -> BadRequest {
        BadRequest(
            "POST", stage.messages, [422], code: "invalid", field: field, as: stage.ann, body,
            sourceLocation: sourceLocation)
    }

    /// Mistakes that need no database: see MessageDrafts (DomainTests).
    @Test("of a message is named in the problem")
    func messages() async throws {
        func text(_ member: String) -> String { #"{"payload":{"text":"hi"},\#(member)}"# }
        try await BadRequest.expect([
            message("{}", "payload"), message(text(#""paylaod":1"#), "paylaod"),
            message(text(#""reply_to":"\#(unknownID())""#), "reply_to"),
            message(text(#""reply_to":"\#(stage.directMessage)""#), "reply_to"),
            message(text(#""mentions":["\#(stage.eve.id)"]"#), "mentions"),
        ])
    }

    @Test("is refused one byte beyond its limit, and accepted at the limit")
    func lengths() async throws {
        func title(_ count: Int) -> String {
            #"{"kind":"group","members":[],"title":"\#(Self.letters(count, "é"))"}"#
        }
        func data(_ count: Int) -> String { #"{"type":"x-large","payload":{"data":"\#(Self.letters(count))"}}"# }
        try await BadRequest.expect([
            message(#"{"payload":{"text":"\#(Self.letters(16_385))"}}"#, "payload.text"),
            message(#"{"payload":{"text":"\#(Self.letters(8_193, "é"))"}}"#, "payload.text"),
            message(data(65_536), "payload"),
            BadRequest("POST", "/v1/threads", [422], field: "title", as: stage.ann, title(129)),
        ])
        let client = stage.ann.client
        for body in [
            #"{"payload":{"text":"\#(Self.letters(16_384))"}}"#,
            #"{"payload":{"text":"\#(Self.letters(8_192, "é"))"}}"#, data(65_000),
        ] { #expect(try await client.post(stage.messages, body).status == 201) }
        #expect(try await client.post("/v1/threads", title(128)).status == 201)
    }

    @Test("of a registration is named in the problem")
    func registration() async throws {
        let usual = [("username", "\"zed.invalid\""), ("password", "\"correct horse\""), ("name", "\"Zed\"")]
        /// A registration with another value of a field; nil leaves the field out.
        func refusal(_ field: String, _ value: String?) -> BadRequest {
            let kept = usual.filter { $0.0 != field } + (value.map { [(field, $0)] } ?? [])
            let body = "{" + kept.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
            return BadRequest("POST", "/v1/auth/register", [422], code: "invalid", field: field, body)
        }
        try await BadRequest.expect(
            [
                ("username", nil), ("password", nil), ("name", nil), ("username", "\"\""), ("username", "1"),
                ("username", "\"a b\""), ("username", "\"a\\u0007\""), ("username", "\"\(Self.letters(1_000))\""),
                ("password", "\"\""), ("password", "12345678"), ("password", "\"\(Self.letters(5_000))\""),
                ("name", "\"\""), ("name", "\"  \""), ("name", "null"), ("name", "\"\(Self.letters(10_000))\""),
                ("admin", "true"), ("device_name", "7"),
            ].map(refusal))
    }

    @Test("of a thread or a mark is named in the problem")
    func threads() async throws {
        let (ann, bob, eve) = (stage.ann, stage.bob, stage.eve)
        let unknown = "\"\(UserID.make())\""
        let thousands = (0..<1_001).map { _ in "\"\(UserID.make())\"" }.joined(separator: ",")
        let threads: [(body: String, field: String)] = [
            (#"{"members":[]}"#, "kind"), (#"{"kind":"party","members":[]}"#, "kind"),
            (#"{"kind":"group","members":"all"}"#, "members"),
            (#"{"kind":"group","members":[\#(unknown)]}"#, "members"),
            (#"{"kind":"group","members":[\#(thousands)]}"#, "members"),
            (#"{"kind":"direct","members":[]}"#, "members"),
            (#"{"kind":"direct","members":["\#(ann.id)"]}"#, "members"),
            (#"{"kind":"direct","members":["\#(bob.id)","\#(eve.id)"]}"#, "members"),
            (#"{"kind":"group","members":[],"title":1}"#, "title"),
            (#"{"kind":"group","members":[],"invite":"yes"}"#, "invite"),
            (#"{"kind":"group","members":[],"colour":"red"}"#, "colour"),
        ]
        let marks: [(body: String, field: String?)] = [
            ("{}", nil), (#"{"read":2}"#, "read"), (#"{"delivered":2}"#, "delivered"), (#"{"read":1000000}"#, "read"),
            (#"{"read":-1}"#, "read"), (#"{"read":"1"}"#, "read"), (#"{"read":true}"#, "read"),
            (#"{"read":1.5}"#, "read"), (#"{"read":99999999999999999999}"#, "read"), (#"{"seen":1}"#, "seen"),
        ]
        try await BadRequest.expect(
            threads.map {
                BadRequest("POST", "/v1/threads", [422], code: "invalid", field: $0.field, as: ann, $0.body)
            }
                + marks.map {
                    BadRequest("PUT", stage.receipts, [422], code: "invalid", field: $0.field, as: bob, $0.body)
                })
    }

    @Test("of a member or an account is named in the problem")
    func members() async throws {
        let rows: [(method: String, path: String, body: String, field: String)] = [
            ("PUT", "\(stage.path)/members/\(stage.bob.id)", #"{"role":"emperor"}"#, "role"),
            ("PUT", "\(stage.path)/members/\(stage.bob.id)", #"{"status":"left"}"#, "status"),
            ("PUT", "\(stage.path)/members/\(stage.bob.id)", #"{"rank":1}"#, "rank"),
            ("PATCH", "/v1/users/me", #"{"name":""}"#, "name"), ("PATCH", "/v1/users/me", #"{"name":1}"#, "name"),
            ("PATCH", "/v1/users/me", #"{"username":"other"}"#, "username"),
            ("PATCH", "/v1/users/me", #"{"preferences":"all"}"#, "preferences"),
        ]
        try await BadRequest.expect(
            rows.map { BadRequest($0.method, $0.path, [422], code: "invalid", field: $0.field, as: stage.ann, $0.body) }
        )
    }
}
