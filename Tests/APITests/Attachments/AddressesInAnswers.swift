// The absolute addresses that the service returns: links to attachments, and addresses of incoming hooks.
import ServiceConfiguration
import TestSupport
import Testing

@Suite("Addresses in answers", .timeLimit(.minutes(1)))
struct AddressesInAnswers {
    private static let publicNode = Task { try await TestNode { $0.publicURL = "https://chat.example:8443" } }

    /// The origins of a link and of a hook's address, when a request names this host, and whether its cookie is `Secure`.
    private func origins(on node: TestNode, host: String) async throws -> (link: String, hook: String, isSecure: Bool) {
        let ann = try await Person.make("Ann", port: node.port)
        let headers = ["Host: \(host)"]
        let id = try await ann.file([1])
        let link = try await ann.client.send("POST", "/v1/attachments/\(id)/link", body: "{}", headers: headers)
        let thread = try await ann.group()
        let hook = try await Client(port: node.port, token: TestNode.adminToken).send(
            "POST", "/v1/admin/hooks", body: #"{"thread_id":"\#(thread)","name":"Grafana"}"#, headers: headers)
        let cookie = try await ann.client.send("POST", "/v1/sessions/current/media-cookie", headers: headers)
        func origin(_ reply: Reply) throws -> String {
            try reply.string("url").split(separator: "/v1/", maxSplits: 1).first.map(String.init) ?? ""
        }
        return (try origin(link), try origin(hook), cookie.headers["set-cookie"]?.contains("Secure") == true)
    }

    @Test("begin with PARLEY_PUBLIC_URL, whatever host a request names")
    func configured() async throws {
        for host in ["evil.example", "localhost"] {
            let found = try await origins(on: try await Self.publicNode.value, host: host)
            #expect(found.link == "https://chat.example:8443" && found.hook == found.link)
            // The cookie is for the host that was asked.
            #expect(found.isSecure == (host != "localhost"))
        }
    }

    @Test("begin with the scheme and the host of the request without that setting")
    func unconfigured() async throws {
        let found = try await origins(on: try await TestNode.shared(), host: "chat.example")
        #expect(found.link == "http://chat.example" && found.hook == found.link && found.isSecure)
    }
}
