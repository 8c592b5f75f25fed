// `parley init`: a configuration file, a database and a first account, once.
import Basics
import Credentials
import Domain
import Glibc
import Linux
import Logging
import Postgres
import ServiceConfiguration
import Store

/// The set-up of a new installation. It prints what it did on standard output.
package struct InitCommand {
    private let request: InitRequest
    private let logger: Logger

    /// Changes nothing if the configuration file exists.
    /// - Throws: `StartError`, `FileError`, or the error of the database. The file does not exist then, so that the command
    ///   can be run again.
    package static func run(_ request: InitRequest, logger: Logger) async throws {
        let command = InitCommand(request: request, logger: logger)
        if try Files.status(request.file) != nil {
            print("\(request.file) exists: Parley is set up already, and nothing was changed.")
            command.sayNext()
            return
        }
        try await command.setUp()
    }

    private func setUp() async throws {
        let username = try Self.read("--username") { () throws(Invalid) in try Username(text: request.username) }
        let name = try Self.read("--name") { () throws(Invalid) in try DisplayName(text: request.name) }
        let account = geteuid() == 0 ? SystemAccount.named(ConfigurationPlaces.accountName) : nil
        // Written first, because a folder that is closed must show before there is an account.
        let draft = "\(request.file).init-\(getpid())"
        let text = request.fileText(adminToken: NewAdminToken.random().text)
        try Files.write(text, to: draft, mode: 0o600, owner: account)
        defer { unlink(draft) }
        if let worker = try request.settings.accountToSwitchTo() {
            try await worker.whileActing { try await prepareDatabase(username, name) }
        } else {
            try await prepareDatabase(username, name)
        }
        // Unlike a rename, a link does not replace the file of another `parley init`.
        guard link(draft, request.file) == 0 else { throw FileError("write", request.file) }
        if let slash = request.file.lastIndex(of: "/") {
            try Files.flushDirectory(slash == request.file.startIndex ? "/" : String(request.file[..<slash]))
        }
        let reader = account.map { "the user \($0.name)" } ?? "its owner"
        print("Settings: \(request.file), with the admin token. Only \(reader) can read the file.")
        sayNext()
    }

    /// Migrates, and creates the first account if there is none.
    private func prepareDatabase(_ username: Username, _ name: DisplayName) async throws {
        let settings = request.settings
        do {
            try await Database.open(settings, logger: logger) { database in
                try await database.prepareSchema(.auto, logger: logger)
                let client = PostgresClient(database.settings, logger: logger)
                do {
                    let store = Store(client)
                    // The account's event needs a partition of the log, which no node has made yet.
                    _ = try await store.extendLog(days: settings.logDays)
                    print("Database: \(database.place), ready for this version.")
                    try await createAccount(username, name, in: store)
                } catch {
                    await client.shutdown()
                    throw error
                }
                await client.shutdown()
            }
        } catch let problem as Problem {
            throw StartError(problem.description)
        }
    }

    private func createAccount(_ username: Username, _ name: DisplayName, in store: Store) async throws {
        guard try await store.adminUsers(UserFilters(), PageRequest(limit: 1)).items.isEmpty else {
            print("Accounts: the database has some, and none was created.")
            return
        }
        // 80 random bits that people can copy.
        let password = ResetCode.random().text
        let hash = try await request.settings.makePasswordHasher().hash(password, flow: "admin")
        _ = try await store.createUser(
            .make(), username: username.text, key: username.key, name: name.text,
            words: name.directoryWords(with: username), passwordHash: hash,
            by: AdminActor(name: "parley init", requestID: nil))
        print(
            """
            First account, shown only now:
              username: \(username.text)
              password: \(password)
            """)
    }

    private func sayNext() {
        let settings = request.settings
        let isService = request.file == ConfigurationPlaces.systemFile && access("/run/systemd/system", F_OK) == 0
        let place = request.file.hasSuffix("/" + ConfigurationPlaces.fileName) ? "" : " --config \(request.file)"
        print(
            """

            Next:
              \(isService ? "systemctl enable --now parley" : "parley serve\(place)")
              Open \(settings.localURL(port: settings.httpPort)) in a browser, and sign in.
            """)
    }

    private static func read<Value>(_ flag: String, _ parse: () throws(Invalid) -> Value) throws -> Value {
        do {
            return try parse()
        } catch {
            throw StartError("\(flag): \(error.fields.map(\.detail).joined(separator: " "))")
        }
    }
}
