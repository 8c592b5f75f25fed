// `--help` and the tables of docs/configuration.md, both rendered from the settings table.
import CommandLineFlags

package enum Help {
    /// `parley --help`.
    package static let overview: String = {
        let commands = Command.allCases.map { "  \($0.rawValue.padded(to: 13))\($0.summary)" }
        return """
            parley \(Invocation.version): a self-hosted chat backend over PostgreSQL.

            Usage: parley COMMAND [--flag VALUE] …

            \(commands.joined(separator: "\n"))

            `parley COMMAND --help` lists the flags of a command. `parley --version` prints the version.
            """
    }()

    /// Lists all flags of a command, not only the most used ones.
    static let allFlag = "--help-all"

    /// The keys of the settings that `parley serve --help` lists.
    private static let mostUsed = [
        "config", "http_host", "http_port", "public_url", "trusted_proxies", "tls_certificate_file", "tls_key_file",
        "database_url", "data_dir", "registration", "smtp_url", "admin_token", "log_level",
    ]

    /// `parley serve --help`, and `--help-all` with all flags.
    package static func text(for command: Command, showsAll: Bool = false) -> String {
        if command == .initialise { return initialise }
        if command == .admin { return admin }
        if command == .attachments { return attachments }
        if command == .outbox { return outbox }
        if command == .export { return export }
        if command == .importArchive { return importArchive }
        return settings(of: command, showsAll: showsAll || command != .serve)
    }

    /// The help of a command whose flags are settings.
    private static func settings(of command: Command, showsAll: Bool) -> String {
        let groups = SettingGroup.all.compactMap { group -> String? in
            let rows = group.settings.filter { setting in
                setting.commands.contains(command) && (showsAll || mostUsed.contains(setting.key))
            }.map { setting in
                let value = setting.defaultText.isEmpty ? "" : " [\(setting.defaultText)]"
                return "  \(setting.flag) \(setting.placeholder)\n" + HelpText.wrapped(setting.help + value, indent: 6)
            }
            return rows.isEmpty ? nil : "\(group.title):\n" + rows.joined(separator: "\n")
        }
        let count = Setting.all.count { $0.commands.contains(command) }
        let rest = showsAll ? "" : " These are the most used flags;\n`parley serve --help-all` lists all \(count)."
        return """
            \(command.summary)

            Usage: parley \(command.rawValue) [--flag VALUE] …

            Each flag is also an environment variable (--log-level is PARLEY_LOG_LEVEL) and a line in the
            configuration file (log_level = debug). A flag overrides the environment, and the environment
            overrides the file. Defaults are in brackets.\(rest)

            \(groups.joined(separator: "\n\n"))
            """
    }

    /// `parley init --help`.
    private static let initialise: String = {
        let settings = Setting.all.filter { $0.commands.contains(.initialise) }.map(\.flag)
        return """
            \(Command.initialise.summary)

            Usage: parley init [--username NAME] [--name NAME] [--flag VALUE] …

            The command writes parley.conf in this folder, or the file that --config names. As root on a
            machine with the Debian package it writes /etc/parley/parley.conf, and works as the user parley.
            The file contains a new admin token, and the settings of the database and the address as given.
            Only its owner can read it. `parley serve` in the same folder reads it.

            The command prepares the database and creates an account, whose password is printed once. If the
            file exists, or the database has accounts, they stay as they are.

            --username NAME  The name to sign in with [admin].
            --name NAME      The name that others see; unset: the username.

            Settings, as for parley serve:
            \(HelpText.wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// `parley admin --help`.
    private static let admin: String = {
        let actions = AdminRequest.Action.allCases.map { action in
            let flags = action.flags.required + action.flags.optional.map { "[\($0)]" }
            return "  \(action.rawValue.padded(to: 21))\(action.summary)\n"
                + (flags.isEmpty ? "" : HelpText.wrapped(flags.joined(separator: " "), indent: 23) + "\n")
        }
        let settings = Setting.all.filter { $0.commands.contains(.admin) }.map(\.flag)
        return """
            \(Command.admin.summary)

            Usage: parley admin SUBJECT ACTION [--flag VALUE] …

            \(actions.joined())
            The command connects to the database and needs no running node. Running nodes apply the change
            at once. Output is JSON. --actor names the person who acts, for the audit log. The password is
            the first line of the password file.

            Settings, as for parley serve:
            \(HelpText.wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// `parley attachments --help`.
    private static let attachments: String = {
        let settings = Setting.all.filter { $0.commands.contains(.attachments) }.map(\.flag)
        return """
            \(Command.attachments.summary)

            Usage: parley attachments move --to s3|postgres [--flag VALUE] …

            The command sets the place of all attachments, old and new, and moves those that are elsewhere.
            Nodes may serve meanwhile. The command prints its progress on standard error. It can be stopped
            and run again. It exits with status 0 once all attachments are in their place, otherwise 1.

            --to s3        Move to the bucket. Nodes with PARLEY_S3_… settings move new attachments there.
            --to postgres  Move back. Nodes stop moving attachments to the bucket until --to s3 is run.
                           Keep their PARLEY_S3_… settings until the bucket is empty.

            Settings, as for parley serve:
            \(HelpText.wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// `parley outbox --help`.
    private static let outbox = """
        \(Command.outbox.summary)

        Usage: parley outbox install DATABASE_URL

        DATABASE_URL is a libpq URL or keywords of the other program's database. The command makes the schema
        parley with parley.send, parley.ensure_direct, parley.add_member and their tables, and the role
        parley_sender, which may call these functions and nothing else. The user of the URL needs the right to
        create schemas in the database, and CREATEROLE if the server has no role parley_sender yet. The command
        can be run again, for example after an upgrade of Parley.

        Then grant parley_sender to the users who may send, and add the connection to PARLEY_OUTBOX_URLS of
        all nodes: they append what the program sends.

        Parley's own database has all this already, except for the role if Parley's user may create none.
        With that database's URL the command adds the role.
        """

    /// `parley export --help`.
    private static let export: String = {
        let settings = Setting.all.filter { $0.commands.contains(.export) }.map(\.flag)
        return """
            \(Command.export.summary)

            Usage: parley export [--user ID] [--thread ID] [--since TIME] [--until TIME] [--flag VALUE] …

            The command reads the database, and needs no node. Nodes may serve meanwhile: the archive is one
            snapshot. It is complete if its last line has the type end. docs/import-export.md describes the
            lines; parley import reads them.

            --user ID     The account, its threads with their members, and the messages that it sent.
            --thread ID   The thread, its members, and all in it.
            --since TIME  Messages of this RFC 3339 time or later.
            --until TIME  Messages before this RFC 3339 time.

            Settings, as for parley serve:
            \(HelpText.wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// `parley import --help`.
    private static let importArchive: String = {
        let settings = Setting.all.filter { $0.commands.contains(.importArchive) }.map(\.flag)
        return """
            \(Command.importArchive.summary)

            Usage: parley import [--dry-run] FILE|- [--flag VALUE] …
                   parley import --from SYSTEM [--namespace NAME] [--room-suffix TEXT] [--convert-only] FILE

            FILE is an archive as docs/import-export.md describes it; - reads standard input. The command
            connects to the database and needs no running node. It reads all lines first and then makes
            them visible at once, or nothing if a line is wrong. Existing accounts, threads and messages
            stay as they are, so the command can be run again. An interrupted import of a file continues
            where it was. Progress is on standard error, the report is JSON on standard output. The command
            exits with status 0 if the archive was imported, otherwise 1.

            --dry-run           Check the archive and print the report, and import nothing.
            --from SYSTEM       FILE is an export of slack, mattermost, zulip, rocketchat or matrix: a
                                directory, a packed one, or a file (docs/import-export.md). What is not
                                carried over is listed on standard error and in the report.
            --namespace NAME    Makes the ids of this import differ from other workspaces'. Always the same one.
            --room-suffix TEXT  Appended to the title of each imported room, if titles are taken here.
            --convert-only      Write the archive to standard output, and import nothing.

            Settings, as for parley serve:
            \(HelpText.wrapped(settings.joined(separator: " "), indent: 2))
            """
    }()

    /// The tables of docs/configuration.md in Markdown, one section per group; ends without a newline.
    package static let markdownTables: String = {
        let cell = { (text: String) in text.replacing("|", with: "\\|").replacing("<", with: "\\<") }
        let sections = SettingGroup.all.map { group in
            let rows = group.settings.map { setting in
                let value = setting.defaultText.isEmpty ? "unset" : "`\(setting.defaultText)`"
                return "| `\(setting.variable)`<br>`\(setting.flag)` | \(value) | \(cell(setting.help)) "
                    + "| \(cell(setting.expectation)) |"
            }
            return "## \(group.title)\n\n| variable and flag | default | meaning | value |\n| --- | --- | --- | --- |\n"
                + rows.joined(separator: "\n")
        }
        return sections.joined(separator: "\n\n")
    }()
}
