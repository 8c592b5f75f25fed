// Where the load generator's accounts come from.
import Credentials
import Domain
import Linux
import Logging
import Postgres

/// A user with one signed-in device.
struct Account: Sendable {
    let id: String
    let token: String
}

/// Creates accounts that no other run uses.
protocol Accounts: Sendable {
    func make(_ count: Int) async throws -> [Account]
}

/// Creates accounts through the API. A password's hash takes 75 ms of a core.
struct RegisteredAccounts: Accounts {
    let endpoint: Endpoint

    func make(_ count: Int) async throws -> [Account] {
        let people = (0..<count).map { number in
            (username: uniqueName(number), password: uniqueName(number), name: "Bench \(number)")
        }
        return try await Self.register(people, at: endpoint)
    }

    static func register(
        _ people: [(username: String, password: String, name: String)], at endpoint: Endpoint
    ) async throws -> [Account] {
        let calls = people.map { person in
            let body: JSONValue = .object([
                .init("username", .string(person.username)), .init("name", .string(person.name)),
                .init("password", .string(person.password)),
            ])
            return Call("POST", "/v1/auth/register", body: body, status: 201)
        }
        return try await Calls.run(calls, at: endpoint).map { reply in
            Account(id: try reply.string("user", "id"), token: try reply.string("session", "token"))
        }
    }
}

/// Inserts accounts into the nodes' database by one statement: 10,000 take half a second. They cannot sign in, because
/// they have no password.
struct InsertedAccounts: Accounts {
    let conninfo: String

    private static let insert = Statement(
        "bench_accounts",
        """
        with given as (
            select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::bytea[]) g (id, name, session, digest)
        ), people as (
            insert into users (id, username, username_key, name, created_at)
            select g.id, g.name, g.name, g.name, date_trunc('milliseconds', clock_timestamp()) from given g
        )
        insert into sessions (id, user_id, token_digest, device_name, created_at, last_used_at)
        select g.session, g.id, g.digest, 'bench', date_trunc('milliseconds', clock_timestamp()),
            date_trunc('milliseconds', clock_timestamp())
        from given g
        """)

    func make(_ count: Int) async throws -> [Account] {
        let people = (0..<count).map { (id: UserID.make(), name: uniqueName($0), token: SessionToken.random()) }
        let client = PostgresClient(
            PostgresSettings(conninfo: conninfo, applicationName: "parley-bench"), logger: Logger(label: "bench"))
        do {
            _ = try await client.query(
                Self.insert,
                [
                    .uuids(people.map(\.id.uuid)), .texts(people.map(\.name)),
                    .uuids(people.map { _ in SessionID.make().uuid }), .bytesArray(people.map(\.token.digest)),
                ])
        } catch {
            await client.shutdown()
            throw BenchFailure("cannot insert accounts: \(error)")
        }
        await client.shutdown()
        return people.map { Account(id: $0.id.description, token: $0.token.text) }
    }
}

/// A user name that no other run has.
func uniqueName(_ number: Int) -> String {
    "bench\(number)x\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
}
