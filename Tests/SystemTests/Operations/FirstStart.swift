// `parley init`, the node that starts from its file, and `parley health`.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The first start", .timeLimit(.minutes(3)))
    struct FirstStart {
        private let folder: TemporaryDirectory
        private var file: String { folder.path + "/parley.conf" }

        init() throws {
            folder = try TemporaryDirectory()
        }

        private func initialise(_ database: String?, _ arguments: [String] = []) async throws -> Parley.Outcome {
            var settings = ["PARLEY_PASSWORD_COST": "12"]
            settings["PARLEY_DATABASE_URL"] = database
            return try await Parley.run(["init"] + arguments, settings: settings, in: folder.path)
        }

        /// Returns the value of a line `name: value` or `name = value`.
        private func value(_ name: String, in text: String) throws -> String {
            let line = text.split(separator: "\n").first { $0.contains("\(name): ") || $0.hasPrefix("\(name) = ") }
            return String(try #require(line?.split(separator: " ").last))
        }

        /// Expects that the account of the printed text signs in, and that the file's token opens the admin API.
        private func expectUse(of node: Node, _ text: String) async throws {
            let (username, password) = (try value("username", in: text), try value("password", in: text))
            let session = try await node.client.post(
                "/v1/auth/login", ["username": .string(username), "password": .string(password)])
            #expect(session.status == 200 && session.json["user"]["username"].string == username, "\(session)")
            let token = try value("admin_token", in: String(contentsOfFile: file, encoding: .utf8))
            let admin = Person(id: "", username: "", password: "", session: "", token: token)
            let users = try await node.client.get("/v1/admin/users", as: admin)
            #expect(users.json["users"].items.map { $0["username"].string } == [username], "\(users)")
        }

        @Test("writes a private file, from which a node starts, and an account; a second run changes nothing")
        func twice() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let first = try await initialise(database, ["--username", "ann", "--name", "Ann"])
            try #require(first.exit == .status(0), "\(first.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let second = try await initialise(database)
            #expect(second.exit == .status(0) && second.output.contains("nothing was changed"), "\(second)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            #expect(!second.output.contains("password"))
            // No draft is left.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["parley.conf"])

            let node = try await Node.start(database: nil, in: folder.path)
            try await expectUse(of: node, first.output)
            try await node.stop()
        }

        @Test("keeps the accounts of a database that has some")
        func existing() async throws {
            let database = try await TestCluster.shared().createDatabase()
            let node = try await Node.start(database: database)
            _ = try await node.client.register("Ann")
            let outcome = try await initialise(database)
            #expect(outcome.exit == .status(0) && outcome.output.contains("none was created"), "\(outcome)")
            #expect(!outcome.output.contains("password"))
            try await node.stop()
        }

        @Test("leaves no file if the database or a name cannot be used, so that it can be run again")
        func failing() async throws {
            let away = "postgresql://parley:secret@127.0.0.1:1/parley"
            try await initialise(away).expectRefusal(mentioning: ["127.0.0.1", "refused"])
            try await initialise(away, ["--username", "a b"]).expectRefusal(mentioning: ["--username"])
            try await initialise(away, ["--config", "none/parley.conf"]).expectRefusal(mentioning: ["none/parley.conf"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }

        /// A machine on which the Debian package is installed, in a mount namespace of its own: a copy of /etc with the user
        /// parley, and an empty /var/lib. Runs the script there as root.
        private func asOnDebian(_ script: String) async throws -> String {
            let machine = """
                set -eu
                mount --make-rprivate /
                cp -a /etc "$1/etc"
                echo 'parley:x:995:995::/var/lib/parley:/usr/sbin/nologin' >>"$1/etc/passwd"
                echo 'parley:x:995:' >>"$1/etc/group"
                mkdir -p "$1/etc/parley"
                mount --bind "$1/etc" /etc
                mount -t tmpfs -o mode=755 tmpfs /var/lib
                cd /
                parley=\(Parley.executable)
                \(script)
                """
            let program = try await TestProcess.start(
                ["/usr/bin/unshare", "--mount", "/bin/bash", "-c", machine, "bash", folder.path],
                environment: ["PARLEY_PASSWORD_COST": "12", "PARLEY_HTTP_PORT": "\(try Sockets.freePort())"])
            let exit = try await program.waitForExit(within: .seconds(120))
            #expect(exit == .status(0), "\(program.errors)")
            return String(decoding: program.output, as: UTF8.self)
        }

        @Test(
            "runs as the user parley where the Debian package is installed, and so does the node",
            .enabled(if: geteuid() == 0 && canMount, "only root with a mount namespace can try it"))
        func switchingUsers() async throws {
            // The node's port is known, so that `parley health` finds it.
            let output = try await asOnDebian(
                """
                $parley init
                stat -c 'owner %U %a %n' /etc/parley/parley.conf /var/lib/parley /var/lib/parley/postgres
                $parley serve >"$1/out" 2>"$1/log" &
                for _ in $(seq 400); do ! $parley health 2>/dev/null || break; sleep 0.1; done
                $parley health
                echo "node $(stat -c %U /proc/$!)"
                kill -TERM $!
                wait $!
                """)
            let lines = output.split(separator: "\n").map(String.init)
            #expect(lines.contains("owner parley 600 /etc/parley/parley.conf"), "\(output)")
            #expect(lines.contains("owner parley 700 /var/lib/parley"), "\(output)")
            #expect(lines.contains("owner parley 700 /var/lib/parley/postgres"), "\(output)")
            #expect(lines.contains("node parley"), "\(output)")
        }

        private static let canMount = {
            let unshare = Process()
            unshare.executableURL = URL(filePath: "/usr/bin/unshare")
            unshare.arguments = ["--mount", "/bin/sh", "-c", "mount -t tmpfs tmpfs /var/lib"]
            unshare.standardError = FileHandle.nullDevice
            do {
                try unshare.run()
            } catch {
                return false
            }
            unshare.waitUntilExit()
            return unshare.terminationStatus == 0
        }()

        @Test("is followed by health checks that need no other program: 0 while the node lives, with TLS too, else 1")
        func health() async throws {
            func check(_ settings: [String: String]) async throws -> Parley.Outcome {
                try await Parley.run(["health"], settings: settings)
            }
            let certificates = try Certificates()
            try certificates.make("site")
            let tls = [
                "PARLEY_TLS_CERTIFICATE_FILE": certificates.path + "/site.crt",
                "PARLEY_TLS_KEY_FILE": certificates.path + "/site.key",
            ]
            for var settings in [[:], tls] {
                let database = try await TestCluster.shared().createDatabase()
                let node = try await Node.start(database: database, settings: settings)
                settings["PARLEY_HTTP_PORT"] = "\(node.address.port)"
                let alive = try await check(settings)
                #expect(alive.exit == .status(0) && alive.output.isEmpty && alive.errors.isEmpty, "\(alive)")
                try await node.stop()
                let dead = try await check(settings)
                #expect(dead.exit == .status(1) && dead.errors.contains("does not answer"), "\(dead)")
            }
        }
    }
}
