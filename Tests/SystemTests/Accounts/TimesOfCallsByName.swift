// With a closed registration and the directory off, no call shows by its time who has an account. HidingAccounts
// compares the answers of the same calls.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The time of a call that names somebody", .timeLimit(.minutes(2)))
    struct TimesOfCallsByName {
        private struct Place: Sendable {
            let node: Node
            /// It ends with the last reference.
            let cluster: TestCluster
            let database: String
            let relay: TestRelay
            let people: [Person]
            let thread: String
            let known: [[Naming: String]]
        }

        private static let pairCount = 60

        private static let start = Task {
            let relay = try await TestRelay.shared()
            // It waits for the disk, so that a write shows in the time of a call.
            let cluster = try await TestCluster.own()
            let database = try await MigratedDatabase.create(on: cluster)
            let node = try await Node.start(database: database, settings: settings(relay))
            // A caller for each name.
            let (tokens, room) = try await InsertedPeople.room(of: 2 * pairCount, in: database, on: cluster)
            let people = tokens.map { Person(id: "", username: "", password: "", session: "", token: $0) }
            // 12 is the password cost of the nodes of tests.
            let known = try await accounts(hash: hash(logN: 12), in: database)
            return Place(
                node: node, cluster: cluster, database: database, relay: relay, people: people, thread: room,
                known: known)
        }

        private static func settings(_ relay: TestRelay) -> [String: String] {
            var settings = [
                "PARLEY_REGISTRATION": "closed", "PARLEY_DIRECTORY": "off",
                "PARLEY_SMTP_URL": "smtp://127.0.0.1:\(relay.ports.plain)?starttls=off",
                "PARLEY_MAIL_FROM": "chat@parley.example", "PARLEY_ADMIN_TOKEN": TestNodes.admin.token,
                "PARLEY_RATE_LIMITS": "on",
            ]
            for limit in [
                "ACCOUNT_DIRECTORY", "ACCOUNT_PROFILE_CHANGES", "ACCOUNT_REPORTS", "ACCOUNT_SIGN_INS",
                "ACCOUNT_THREADS", "ACCOUNT_WRITES", "ADDRESS_ADMIN_GUESSES", "ADDRESS_SIGN_INS",
            ] {
                settings["PARLEY_LIMIT_\(limit)"] = "1000000"
            }
            return settings
        }

        /// A stored hash of some password, at a cost.
        private static func hash(logN: Int) -> String {
            "$scrypt$ln=\(logN),r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        }

        /// Names that nobody has.
        private static func names() -> [Naming: String] {
            let word = "h" + newID().suffix(12)
            return [
                .username: word, .email: "\(word)@mail.example", .externalID: "\(word)-7", .id: newID(),
                .prefixedExternalID: "ext:\(word)-7",
            ]
        }

        /// Creates accounts whose owners have asked for a code today, and for an operator's code.
        private static func accounts(hash: String, in database: String) async throws -> [[Naming: String]] {
            let accounts = (0..<pairCount).map { _ in names() }
            func column(_ naming: Naming) -> String {
                "array['" + accounts.compactMap { $0[naming] }.joined(separator: "', '") + "']"
            }
            try await Psql.run(
                """
                with made as (
                    insert into users (id, name, username, username_key, email, email_key, external_id, created_at,
                        password_hash)
                    select i::uuid, 'Known', n, n, e, e, x, now(), '\(hash)'
                    from unnest(\(column(.id)), \(column(.username)), \(column(.email)), \(column(.externalID)))
                        a (i, n, e, x)
                    returning id, email_key
                ), asked as (
                    insert into mail_codes (email_key, counted_from, asked, failed, code_hash, code_email,
                        code_expires_at, code_tries)
                    select email_key, now(), 1, 0, '\(hash)', email_key, now() + interval '10 min', 0 from made
                )
                insert into password_resets (user_id, code_digest, expires_at)
                select id, '\\x00', now() + interval '1 day' from made;
                """, conninfo: database)
            return accounts
        }

        private let place: Place
        private let connection: Connection

        init() async throws {
            place = try await Self.start.value
            connection = Connection(place.node.address)
        }

        /// Times a call with names of accounts and with names that nobody has and nobody has tried.
        /// - Parameter callers: of the calls with a known and with an unknown name, by turns; none: nobody signed in.
        private func expectAlike(
            _ call: CallByName, by naming: Naming, known: [[Naming: String]]? = nil, callers: [Person] = [],
            _ detail: String = ""
        ) async throws {
            let known = known ?? place.known
            let unknown = (0..<Self.pairCount).map { _ in Self.names() }
            var statuses: Set<Int> = []
            let times = try await PairedTimes(Self.pairCount) { isKnown, index in
                let name = (isKnown ? known : unknown)[index][naming] ?? ""
                var request = Request(call.method, call.path(naming: name, thread: place.thread))
                if !callers.isEmpty {
                    let caller = callers[(2 * index + (isKnown ? 0 : 1)) % callers.count]
                    request.headers.append(("Authorization", "Bearer \(caller.token)"))
                }
                if let body = call.body(naming: name) {
                    request.headers.append(("Content-Type", "application/json"))
                    request.body = Data(body.utf8)
                }
                statuses.insert(try await connection.send(request).status)
            }
            #expect(statuses.count == 1 && statuses.isDisjoint(with: [429, 503]), "\(call) by \(naming): \(statuses)")
            expectAlike(times, "\(call) by \(naming) \(callers.isEmpty ? "without" : "with") a token \(detail)")
        }

        private func expectAlike(_ times: PairedTimes, _ what: String) {
            #expect(abs(times.deviation) < 4.5, "\(what): \(times)")
        }

        private func calls(_ isIncluded: (String) -> Bool) -> [(call: CallByName, naming: Naming)] {
            CallByName.all.filter { isIncluded($0.key) }.sorted { $0.key < $1.key }.flatMap(\.value)
                .flatMap { call in call.namings.map { (call, $0) } }
        }

        private static let open: Set = ["login", "register", "requestCode", "setPassword"]

        /// Waits until no mail waits, because sending one takes time from the next calls.
        private func settled() async throws {
            try await eventually("no mail waits", every: .milliseconds(30)) {
                try await Psql.run("select count(*) from mails", conninfo: place.database) == "0"
            }
        }

        @Test("does not show whether somebody has the name, to a caller who is not signed in")
        func timingOfOpenCalls() async throws {
            for (call, naming) in calls(Self.open.contains) {
                try await expectAlike(call, by: naming)
                try await settled()
            }
        }

        @Test("does not show whether the account has a password of an earlier cost")
        func timingOfEarlierCosts() async throws {
            let known = try await Self.accounts(hash: Self.hash(logN: 10), in: place.database)
            for (call, naming) in calls({ $0 == "login" }).prefix(2) {
                try await expectAlike(call, by: naming, known: known, "at an earlier cost")
            }
        }

        @Test("does not show whether an e-mail address is another account's, when asked for and when confirmed")
        func timingOfAddresses() async throws {
            for (call, naming) in calls({ $0 == "putEmail" }) {
                try await expectAlike(call, by: naming, callers: place.people)
            }
            try await settled()
            let times = try await PairedTimes(Self.pairCount) { isKnown, index in
                let caller = place.people[2 * index + (isKnown ? 0 : 1)]
                let answer = try await connection.post("/v1/users/me/email", ["code": "123456"], as: caller)
                #expect(answer.code == "wrong_code", "\(answer)")
            }
            expectAlike(times, "confirming an address")
        }

        @Test("does not show whether somebody has the name, to a caller who is signed in")
        func timingOfOtherCalls() async throws {
            for (call, naming) in calls({ !Self.open.contains($0) && $0 != "putEmail" }) {
                try await expectAlike(call, by: naming, callers: [place.people[0]])
            }
        }

        @Test("does not show whether somebody has the name, to a caller who lacks a token")
        func timingOfRefusedCalls() async throws {
            for (call, naming) in calls({ !Self.open.contains($0) }) {
                try await expectAlike(call, by: naming)
            }
            for call in [
                CallByName("GET", "/v1/admin/users/$"), CallByName("PUT", "/v1/admin/users/$", "{}"),
                CallByName("GET", "/v1/admin/users?external_id=$"), CallByName("GET", "/v1/admin/users?email=$"),
            ] {
                for naming in call.namings {
                    try await expectAlike(call, by: naming)
                    try await expectAlike(call, by: naming, callers: [place.people[0]])
                }
            }
        }
    }
}
