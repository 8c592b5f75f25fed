// Parses command lines, and compares docs/configuration.md with the settings table.
import CommandLineFlags
import Domain
import FoundationEssentials
import ServiceConfiguration
import TestSupport
import Testing

@Suite("Invoking parley", .timeLimit(.minutes(1)))
struct InvokingParley {
    private func parse(_ arguments: String...) throws -> Invocation {
        try Invocation.parse(arguments: arguments, environment: [:])
    }

    @Test("runs a command with its settings")
    func run() throws {
        var settings = Settings()
        #expect(try parse("migrate") == .migrate(settings))
        settings.httpPort = 0
        #expect(try parse("serve", "--http-port", "0") == .serve(settings))
    }

    @Test("shows help for --help at any place, even with mistakes in other flags")
    func help() throws {
        #expect(try parse() == .show(Help.overview))
        #expect(try parse("--help") == .show(Help.overview))
        #expect(try parse("help") == .show(Help.overview))
        #expect(try parse("serve", "--nonsense", "-h") == .show(Help.text(for: .serve)))
        #expect(try parse("help", "migrate") == .show(Help.text(for: .migrate)))
        #expect(try parse("help", "bench", "idle") == .program("parley-bench", arguments: ["idle", "--help"]))
        #expect(try parse("--version") == .show("parley \(Invocation.version)"))
    }

    @Test("accepts an admin action with its own flags and those of the settings, and reports all mistakes")
    func admin() throws {
        var settings = Settings()
        settings.databaseURL = "host=db"
        let request = AdminRequest(
            action: .erase, values: ["--user": "x", "--messages": "erase"], settings: settings)
        #expect(
            try parse("admin", "user", "erase", "--user", "x", "--database-url=host=db", "--messages=erase")
                == .admin(request))
        #expect(try parse("admin") == .show(Help.text(for: .admin)))
        #expect(try parse("admin", "user", "erase", "--help") == .show(Help.text(for: .admin)))
        #expect(Help.text(for: .admin).split(separator: "\n").allSatisfy { $0.count <= 100 })
        let wrong = #expect(throws: ConfigurationErrors.self) {
            try parse("admin", "user", "erase", "--thread", "x", "--log-level=loud")
        }
        #expect(wrong?.mistakes.count == 3, "\(wrong?.mistakes ?? [])")
        func refusal(_ words: String...) -> String? {
            #expect(throws: ConfigurationErrors.self) {
                try Invocation.parse(arguments: ["admin"] + words, environment: [:])
            }?.description
        }
        #expect(
            refusal("explode")
                == "\"explode\" is not an action of parley admin. Actions begin with one of: user, session, invitation, "
                + "key, thread, message, stats, audit.")
        #expect(
            refusal("key", "make", "--name", "x")
                == "\"key make\" is not an action of parley admin. Actions: key create, key list, key revoke.")
        #expect(refusal("user", "craete")?.hasSuffix("Did you mean user create?") == true)
        #expect(refusal("stats")?.hasSuffix("Actions: stats show. Did you mean stats show?") == true)
    }

    @Test("accepts a move of attachments only with a place and an object store")
    func move() throws {
        let store = [
            "PARLEY_S3_ENDPOINT": "http://s3", "PARLEY_S3_BUCKET": "files", "PARLEY_S3_ACCESS_KEY": "a",
            "PARLEY_S3_SECRET_KEY": "b",
        ]
        func parse(_ words: String, _ environment: [String: String]) throws -> Invocation {
            try Invocation.parse(
                arguments: words.split(separator: " ").map(String.init), environment: environment)
        }
        let request = MoveRequest(to: .postgres, settings: try Settings.load(arguments: [], environment: store))
        #expect(try parse("attachments move --to postgres", store) == .attachments(request))
        for words in ["attachments", "attachments --help", "attachments move --help", "help attachments"] {
            #expect(try parse(words, [:]) == .show(Help.text(for: .attachments)))
        }
        #expect(Help.text(for: .attachments).split(separator: "\n").allSatisfy { $0.count <= 100 })
        for words in ["attachments copy", "attachments move", "attachments move --to gcs", "attachments --to s3"] {
            #expect(throws: ConfigurationErrors.self) { try parse(words, store) }
        }
        let wrong = #expect(throws: ConfigurationErrors.self) { try parse("attachments move", [:]) }
        #expect(wrong?.mistakes.count == 2)
    }

    @Test("accepts the filters of an export, and reports all mistakes together")
    func export() throws {
        let (user, thread) = (UserID.make(), ThreadID.make())
        var request = ExportRequest(settings: try Settings.load(arguments: [], environment: [:]))
        #expect(try parse("export") == .export(request))
        request.scope = ArchiveScope(
            user: user, thread: thread, since: Timestamp(parsing: "2026-01-01T00:00:00Z"),
            until: Timestamp(parsing: "2026-01-01T01:00:00+01:00"))
        let filters = ["--user", "\(user)", "--thread=\(thread)", "--since", "2026-01-01T00:00:00Z"]
        let parsed = try Invocation.parse(
            arguments: ["export"] + filters + ["--until", "2026-01-01T00:00:00Z"], environment: [:])
        #expect(parsed == .export(request))
        #expect(try parse("export", "--help") == .show(Help.text(for: .export)))
        #expect(Help.text(for: .export).split(separator: "\n").allSatisfy { $0.count <= 100 })
        let wrong = #expect(throws: ConfigurationErrors.self) {
            try parse("export", "--user", "x", "--until", "now", "--all", "1")
        }
        #expect(wrong?.mistakes.count == 3, "\(wrong?.mistakes ?? [])")
    }

    @Test("accepts an import of one file into a database")
    func importing() throws {
        var settings = Settings()
        settings.databaseURL = "host=db"
        #expect(
            try parse("import", "--database-url", "host=db", "a", "--dry-run")
                == .importArchive(ImportRequest(path: "a", isDryRun: true, settings: settings)))
        #expect(
            try parse("import", "-", "--database-url=host=db")
                == .importArchive(ImportRequest(path: "-", isDryRun: false, settings: settings)))
        #expect(try parse("import") == .show(Help.text(for: .importArchive)))
        #expect(Help.text(for: .importArchive).split(separator: "\n").allSatisfy { $0.count <= 100 })
        let wrong = #expect(throws: ConfigurationErrors.self) { try parse("import", "a", "b", "--log-level=loud") }
        #expect(wrong?.mistakes.count == 2, "\(wrong?.mistakes ?? [])")
        #expect(throws: ConfigurationErrors.self) { try parse("import", "a") }
        // Of another system.
        let conversion = ImportRequest.Conversion(
            source: .slack, namespace: "old", roomSuffix: nil, convertsOnly: false)
        #expect(
            try parse("import", "--from", "slack", "x.zip", "--namespace=old", "--database-url=host=db")
                == .importArchive(
                    ImportRequest(path: "x.zip", isDryRun: false, conversion: conversion, settings: settings)))
        let unknown = #expect(throws: ConfigurationErrors.self) {
            try parse("import", "--from", "irc", "x", "--database-url=host=db")
        }
        #expect(unknown?.mistakes == ["--from must be one of: slack, mattermost, zulip, rocketchat, matrix."])
        let alone = #expect(throws: ConfigurationErrors.self) {
            try parse("import", "--convert-only", "x", "--database-url=host=db")
        }
        #expect(alone?.mistakes == ["--convert-only needs --from: it is about the export of another system."])
    }

    @Test("refuses an unknown command and lists the commands")
    func unknownCommand() {
        let error = #expect(throws: ConfigurationErrors.self) { try parse("sevre") }
        #expect(
            error?.description
                == "\"sevre\" is not a command of parley. Commands: init, serve, health, migrate, admin, attachments, "
                + "outbox, export, import, bench, chat. Did you mean serve?")
    }

    @Test("lists only the most used flags of serve for --help, and all for --help-all")
    func mostUsed() throws {
        let (short, all) = (Help.text(for: .serve), Help.text(for: .serve, showsAll: true))
        #expect(try parse("serve", "--help-all") == .show(all))
        #expect(try parse("migrate", "--help-all") == .show(Help.text(for: .migrate)))
        #expect(try parse("--help-all") == .show(Help.overview))
        for flag in ["--http-port PORT", "--database-url URL", "--registration ", "--admin-token "] {
            #expect(short.contains("  \(flag)"))
        }
        #expect(short.contains("`parley serve --help-all` lists all \(Setting.all.count)."))
        #expect(short.split(separator: "\n").count < 60 && all.split(separator: "\n").count > 200)
        #expect(short.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(
        "lists a command's flags with their defaults, in lines of at most 100 columns",
        arguments: [Command.serve, .migrate])
    func flags(command: Command) {
        let text = Help.text(for: command, showsAll: true)
        for setting in Setting.all {
            #expect(text.contains("  \(setting.flag) \(setting.placeholder)\n") == setting.commands.contains(command))
        }
        #expect(text.contains("[info]"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("lists the settings in docs/configuration.md as in the executable (`make docs` updates the file)")
    func documentation() throws {
        try GeneratedText.check("docs/configuration.md", "settings", is: Help.markdownTables)
    }

    @Test("says in docs/security.md how to replace each secret that a setting or the file of a setting holds")
    func secrets() throws {
        let rows = try Document("docs/security.md").prose.split(separator: "\n## Secrets\n")[1]
            .split(separator: "\n### ")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        let files = ["jwt_keys", "tls_key_file", "apns_key_file", "fcm_account_file"]
        let secrets = Setting.all.filter { files.contains($0.key) || $0.exposure != .open }
        #expect(secrets.count > 10)
        for secret in secrets {
            #expect(rows.contains { $0.contains("`\(secret.variable)`") }, "\(secret.variable)")
        }
    }

    @Test("has one version number: `--version`, docs/openapi.yaml and the latest release in docs/changelog.md")
    func version() throws {
        let described = try String(contentsOf: Self.root.appending(path: "docs/openapi.yaml"), encoding: .utf8)
        let changes = try String(contentsOf: Self.root.appending(path: "docs/changelog.md"), encoding: .utf8)
        let version = Invocation.version[...]
        #expect(described.firstMatch(of: /\ninfo:\n  title: Parley\n  version: ([0-9.]+)\n/)?.1 == version)
        #expect(changes.firstMatch(of: /\n## ([0-9]+\.[0-9]+\.[0-9]+)/)?.1 == version)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test("names every setting once, with letters, digits and underscores only")
    func names() {
        let keys = Setting.all.map(\.key)
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { $0.allSatisfy { $0 == "_" || ("a"..."z").contains($0) || ("0"..."9").contains($0) } })
    }
}
