// Wrong passwords are counted by name and by address, on all nodes together. The waits end when the test moves the time
// of the failures, so that no test waits.
import Domain
import ServiceConfiguration
import TestSupport
import Testing

@Suite("Guessing passwords", .serialized, .timeLimit(.minutes(1)))
struct GuessingPasswords {
    private static let waitMaxS = 40

    /// Two nodes on one database, behind a proxy on this machine.
    private static let nodes = Task {
        @Sendable func limit(_ settings: inout Settings) {
            settings.rateLimitsEnabled = true
            settings.trustedProxies = ["127.0.0.1"]
            settings.limits.signInWaitMaxS = waitMaxS
            settings.rateQuotas[.signInsFromAddress] = 20
        }
        let first = try await TestNode(limit)
        return [first, try await TestNode(on: first.database, limit)]
    }

    private let nodes: [TestNode]
    private let ann: Person

    init() async throws {
        nodes = try await Self.nodes.value
        ann = try await .make("Ann", port: nodes[0].port)
    }

    private func signIn(_ body: String, from address: String, on node: Int) async throws -> Reply {
        // A client can write what it wants left of the address that the proxy adds.
        try await Client(port: nodes[node].port).send(
            "POST", "/v1/auth/login", body: body, headers: ["X-Forwarded-For: 192.0.2.99, \(address)"])
    }

    /// An attempt with a password. Each number stands for another address.
    private func attempt(_ username: String, _ password: String, _ number: Int) async throws -> Reply {
        try await signIn(
            #"{"username":"\#(username)","password":"\#(password)"}"#, from: "203.0.113.\(number)", on: number % 2)
    }

    private func sql(_ text: String) async throws -> String {
        try await Psql.run(text, conninfo: nodes[0].database)
    }

    /// Counts six more failures of every name, and makes the last of all failures the given number of seconds old.
    private func fail(secondsAgo: Int) async throws {
        _ = try await sql(
            "update sign_in_failures set failed = 16, failed_at = clock_timestamp() - interval '\(secondsAgo) s'")
    }

    @Test("of one account is blocked on both nodes after ten attempts, also for the right password and unknown names")
    func account() async throws {
        var details: Set<String> = []
        for username in [ann.username, "nobody.\(ann.username)"] {
            for number in 0..<10 {
                let reply = try await attempt(username, "wrong \(number)", number)
                #expect(reply.status == 401 && reply.problemCode == "wrong_credentials", "\(reply.text)")
            }
            #expect(try await sql("select max(failed) from sign_in_failures") == "10")
            try await fail(secondsAgo: 0)
            for number in 10..<14 {
                let reply = try await attempt(username.uppercased(), number < 12 ? "wrong" : "long enough", number)
                #expect(reply.status == 429 && reply.problemCode == "rate_limited", "\(reply.text)")
                let waitS = try #require(reply.headers["retry-after"].flatMap { Int($0) })
                #expect((1...Self.waitMaxS).contains(waitS))
                #expect(reply.headers["ratelimit"] == #""account-sign-ins";r=0;t=\#(waitS)"#)
                #expect(reply.headers["ratelimit-policy"] == #""account-sign-ins";q=30;w=900"#)
                details.insert(try reply.string("detail"))
            }
            // Attempts during the wait are not counted, and devices that are signed in continue.
            #expect(try await sql("select max(failed) from sign_in_failures") == "16")
            #expect(try await ann.client.get("/v1/users/me").status == 200)
            try await fail(secondsAgo: Self.waitMaxS)
            #expect(try await attempt(username, "wrong", 14).status == 401)
            #expect(try await attempt(username, "wrong", 15).status == 429)
            // The wait ends, and the right password clears the count.
            try await fail(secondsAgo: Self.waitMaxS)
            guard username == ann.username else { continue }
            #expect(try await attempt(username, "long enough", 16).status == 200)
            #expect(try await sql("select count(*) from sign_in_failures") == "0")
        }
        #expect(details.count == 1)
        _ = try await sql("delete from sign_in_failures")
    }

    @Test("with the token of a device is blocked in the same way")
    func device() async throws {
        func change(_ current: String, on node: Int) async throws -> Reply {
            try await Client(port: nodes[node].port, token: ann.client.token).put(
                "/v1/users/me/password", #"{"current":"\#(current)","new":"a new password"}"#)
        }
        for number in 0..<10 {
            let reply = try await change("wrong \(number)", on: number % 2)
            #expect(reply.status == 403 && reply.problemCode == "wrong_password", "\(reply.text)")
        }
        try await fail(secondsAgo: 0)
        for node in 0..<2 { #expect(try await change("long enough", on: node).status == 429) }
        _ = try await sql("delete from sign_in_failures")
    }

    @Test("from one address is blocked for every account, and successful sign-ins from it do not count")
    func address() async throws {
        let right = #"{"username":"\#(ann.username)","password":"long enough"}"#
        for number in 0..<22 {
            let reply = try await signIn(right, from: "203.0.113.250", on: number % 2)
            #expect(reply.status == 200, "\(reply.text)")
        }
        for number in 0..<20 {
            let reply = try await signIn(#"{"token":"x"}"#, from: "203.0.113.250", on: number % 2)
            #expect(reply.status == 401, "\(number): \(reply.text)")
        }
        for node in 0..<2 {
            let reply = try await signIn(#"{"token":"x"}"#, from: "203.0.113.250", on: node)
            #expect(reply.status == 429, "\(reply.text)")
            #expect(reply.headers["ratelimit-policy"] == #""address-sign-ins";q=20;w=900"#)
            #expect(try await signIn(#"{"token":"x"}"#, from: "203.0.113.251", on: node).status == 401)
        }
    }
}
