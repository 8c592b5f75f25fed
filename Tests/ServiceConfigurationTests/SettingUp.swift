// `parley init` before it does anything: which file, which values; and where `parley serve` finds the file.
import CommandLineFlags
import Foundation
import Testing

@testable import ServiceConfiguration

@Suite("Setting up", .timeLimit(.minutes(1)))
struct SettingUp {
    /// A machine with these files and their owners, as user 1000 or as root.
    private func places(_ files: [String: UInt32] = [:], root: Bool = false, package: Bool = false)
        -> ConfigurationPlaces
    {
        ConfigurationPlaces(
            workingDirectory: "/home/ann", isRoot: root, hasSystemDirectory: package,
            trustedOwners: [0, root ? 0 : 1000], owner: { files[$0] })
    }

    private func parse(
        _ words: String, _ places: ConfigurationPlaces, environment: [String: String] = [:], file: String = ""
    ) throws -> Invocation {
        try Invocation.parse(
            arguments: words.split(separator: " ").map(String.init), environment: environment, places: places,
            readFile: { _ in file })
    }

    private func request(
        _ words: String, _ places: ConfigurationPlaces, environment: [String: String] = [:]
    ) throws -> InitRequest {
        guard case .initialise(let request) = try parse(words, places, environment: environment) else {
            throw Unexpected()
        }
        return request
    }

    private struct Unexpected: Error {}

    @Test("writes parley.conf in this folder, as root with the package the system's file, or the one that is named")
    func file() throws {
        #expect(try request("init", places()).file == "/home/ann/parley.conf")
        #expect(try request("init", places(package: true)).file == "/home/ann/parley.conf")
        #expect(try request("init", places(root: true)).file == "/home/ann/parley.conf")
        #expect(try request("init", places(root: true, package: true)).file == "/etc/parley/parley.conf")
        #expect(try request("init --config a/b", places(root: true, package: true)).file == "/home/ann/a/b")
        #expect(try request("init", places(), environment: ["PARLEY_CONFIG": "/x"]).file == "/x")
    }

    @Test("keeps the data beside the file, or in the package's folder")
    func data() throws {
        #expect(try request("init", places()).settings.dataDirectory == "/home/ann/.parley")
        #expect(try request("init --data-dir x", places()).settings.dataDirectory == "/home/ann/x")
        let package = places(root: true, package: true)
        #expect(try request("init", package).settings.dataDirectory == "/var/lib/parley")
        #expect(try request("init --data-dir /srv", package).settings.dataDirectory == "/srv")
    }

    @Test("names the first account admin, unless it is told another name")
    func account() throws {
        #expect(try request("init", places()).username == "admin")
        let named = try request("init --username ann", places())
        #expect(named.username == "ann" && named.name == "ann")
        #expect(try request("init --username ann --name Ann", places()).name == "Ann")
        #expect(throws: ConfigurationErrors.self) { try request("init --password x", places()) }
    }

    @Test(
        "writes a file that `parley serve` reads, with what init was given and no more",
        arguments: [
            "init", "init --http-port 9000 --http-host 0.0.0.0", "init --data-dir /srv/my=data",
            "init --database-url postgresql://p:s#cr%20t@db/parley?sslmode=require",
        ])
    func text(_ words: String) throws {
        let given = try request(words, places())
        let token = "parley_admin_0123456789abcdef"
        var expected = given.settings
        expected.adminTokens = [token]
        // A node with a database of its own does not need the directory.
        if expected.databaseURL != nil { expected.dataDirectory = Settings().dataDirectory }
        let read = try parse(
            "serve", places(["/home/ann/parley.conf": 1000]), file: given.fileText(adminToken: token))
        #expect(read == .serve(expected))
    }

    @Test("refuses values that cannot be written to a file")
    func lines() {
        #expect(throws: ConfigurationErrors.self) {
            try request("init", places(), environment: ["PARLEY_DATABASE_URL": "host=db\nadmin_token=x"])
        }
    }

    @Test("is found again: in the working folder first, then the system's; for root with the package the system's only")
    func found() throws {
        let (local, system) = ("/home/ann/parley.conf", "/etc/parley/parley.conf")
        #expect(try places().find() == nil)
        #expect(try places([local: 1000]).find() == local)
        #expect(try places([system: 995], package: true).find() == system)
        #expect(try places([local: 0, system: 995], package: true).find() == local)
        #expect(try places([local: 0, system: 995], root: true, package: true).find() == system)
        #expect(try places([local: 0], root: true, package: true).find() == nil)
        // A file that is named is read instead, and other commands read the same file.
        let named = try parse("serve --config /x", places([local: 1000]), file: "http_port = 1")
        guard case .serve(let settings) = named else { throw Unexpected() }
        #expect(settings.configurationFile == "/x" && settings.httpPort == 1)
        guard case .migrate(let settings) = try parse("migrate", places([local: 1000])) else { throw Unexpected() }
        #expect(settings.configurationFile == local)
    }

    @Test("is not read if it is another user's and nobody named it")
    func stranger() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try parse("serve", places(["/home/ann/parley.conf": 1001]))
        }
        #expect(error?.mistakes.count == 1 && error?.description.contains("uid 1001") == true)
        #expect(throws: Never.self) { try parse("serve --config /x", places(["/home/ann/parley.conf": 1001])) }
    }

    @Test("checks a node at the address that it listens on, for which it needs the port")
    func health() throws {
        guard case .health(let settings) = try parse("health --http-port 9000", places()) else { throw Unexpected() }
        #expect(settings.localURL(port: settings.httpPort) == "http://127.0.0.1:9000")
        #expect(throws: ConfigurationErrors.self) { try parse("health --http-port 0", places()) }
        var other = Settings()
        for (host, url) in [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("chat.lan", "chat.lan")] {
            other.httpHost = host
            #expect(other.localURL(port: 1) == "http://\(url):1")
        }
        other.tlsCertificateFile = "x"
        #expect(other.localURL(port: 1).hasPrefix("https://"))
    }

    @Test("says in a terminal which address to open, where the data is and who may sign up")
    func notice() {
        var settings = Settings()
        #expect(
            settings.startNotice(port: 8080) == """
                  Open http://127.0.0.1:8080 in a browser.
                  Data: .parley, with a PostgreSQL of its own.
                  Sign-up: everyone who reaches this address may create an account.
                """)
        settings.httpHost = "0.0.0.0"
        settings.publicURL = "https://chat.example.org"
        settings.databaseURL = "postgresql://p:secret@db/parley"
        settings.configurationFile = "/etc/parley/parley.conf"
        let text = settings.startNotice(port: 8080)
        #expect(text.contains("Open https://chat.example.org in") && text.contains("Sign-up: nobody"))
        #expect(text.hasSuffix("Settings: /etc/parley/parley.conf.") && !text.contains("secret"))
        settings.webClientEnabled = false
        #expect(!settings.startNotice(port: 8080).contains("Open "))
    }
}
