// A payload that is accepted must never fail in SQL later: PostgreSQL's json keeps any text, jsonb does not.
import Domain
import Postgres
import TestSupport
import Testing

@Suite("Stored payloads", .timeLimit(.minutes(1)))
struct StoredPayloads {
    /// Pieces of JSON near and past the limits of PostgreSQL.
    private static let numbers = [
        "0", "-0", "1e308", "-1.7976931348623157e308", "4.9e-324", "1e-16383", "1e-16384", "0e-16384", "0e99999",
        "1e400",
        "0.00000000000000000000000000000000000000000000000001e-307", "123456789012345678901234567890.5e-330",
        "0e1073741823", "1E+5", "0.10", String(repeating: "9", count: 64),
    ]
    private static let strings = [
        #""""#, #""\u0000""#, #""\u0001\u001f""#, #""\ud800""#, #""\udc00\ud800""#, #""\ud83d\ude00""#, #""\uffff""#,
        "\"\u{FFFE}\u{10FFFF}\"", #""\\u0000""#, #""\b\f\n\r\t\/\"""#, "\"\u{202E}é\"",
    ]

    private static func value(_ random: inout SplitMix64, depth: Int = 0) -> String {
        switch random.below(depth < 4 ? 8 : 4) {
        case 0: numbers[random.below(numbers.count)]
        case 1: strings[random.below(strings.count)]
        case 2: ["true", "false", "null"][random.below(3)]
        case 3: number(&random)
        case 4, 5:
            "[" + (0..<random.below(4)).map { _ in value(&random, depth: depth + 1) }.joined(separator: ",") + "]"
        default: object(&random, depth: depth + 1)
        }
    }

    private static func object(_ random: inout SplitMix64, depth: Int) -> String {
        "{"
            + (0..<random.below(4)).map { index in
                let key = random.chance(4) ? strings[random.below(strings.count)] : "\"k\(index)\""
                return key + ":" + value(&random, depth: depth)
            }.joined(separator: ",") + "}"
    }

    private static func number(_ random: inout SplitMix64) -> String {
        let digits = { (count: Int, random: inout SplitMix64) in
            (0..<count).map { _ in String(random.below(10)) }.joined()
        }
        var text = random.chance(2) ? "-" : ""
        text += random.chance(3) ? "0" : "\(1 + random.below(9))" + digits(random.below(20), &random)
        if random.chance(2) { text += "." + digits(1 + random.below(40), &random) }
        if random.chance(2) { text += "e" + ["", "+", "-"][random.below(3)] + digits(1 + random.below(6), &random) }
        return text
    }

    @Test("every payload that the reader accepts can be cast to jsonb")
    func survivesJSONB() async throws {
        var random = SplitMix64(freshFor: "random payloads")
        var accepted: [String] = []
        for _ in 0..<20_000 {
            let text = Self.object(&random, depth: 0)
            guard let value = try? JSONReader.read(Array(text.utf8)) else { continue }
            accepted.append(String(decoding: value.compactText.utf8, as: UTF8.self))
        }
        #expect(accepted.count > 5_000)
        let client = PostgresClient(test: try await TestCluster.shared().createDatabase())
        // json keeps the text and is cast in the database, as functions do it.
        let rows = try await client.query(
            Statement("cast", "select count(x::json::jsonb) from unnest($1::text[]) x"), [.texts(accepted)])
        #expect(try rows.first?.int8(0) == Int64(accepted.count))
        await client.shutdown()
    }

    /// Payloads from before numbers were bounded are written by SQL.
    @Test("members still reach a thread with a stored payload that jsonb cannot hold")
    func oldRows() async throws {
        let database = try await MigratedDatabase.create()
        let (ann, ben, room) = (
            "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b",
            "00000000-0000-0000-0000-0000000000aa"
        )
        let found = try await Psql.run(
            """
            insert into users (id, username, username_key, name, created_at)
            values ('\(ann)', 'ann', 'ann', 'Ann', now()), ('\(ben)', 'ben', 'ben', 'Ben', now());
            select created from thread_create('\(room)', 'room', 'R', 'r', '\(ann)', '{}', false);
            select outcome from message_append(array[gen_random_uuid()], array['\(room)'::uuid], array['\(ann)'::uuid],
                array['message'], array['{"text":"hi","n":1e-20000}'::json], array[null::uuid], array['{}']);
            select created from room_join(gen_random_uuid(), '\(ben)', 'R', 'r', 1000);
            select count(*) from events where type = 'thread.created' and body like '%"last_message"%';
            select member_put('\(ben)', '\(room)', '\(ben)', null, 'joined', 1000, 1000) is not null;
            select position('1e-20000' in threads) > 0 from inbox('\(ben)', 30, false, null, null);
            """, conninfo: database)
        #expect(found.split(separator: "\n") == ["t", "created", "f", "0", "t", "t"])
    }
}
