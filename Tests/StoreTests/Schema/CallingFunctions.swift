// How Store calls the database's functions: by their names, with all parameters, as a table or as a value.
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Store

@Suite("Calling functions", .timeLimit(.minutes(1)))
struct CallingFunctions {
    @Test("a name becomes a statement with a place for each parameter")
    func statements() {
        #expect("log_place".statement(parameterCount: 2).sql == "select * from log_place($1, $2)")
        #expect("sync_start".statement(parameterCount: 0).sql == "select * from sync_start()")
        #expect("thread_get".single.statement(parameterCount: 2).sql == "select thread_get($1, $2)")
        let counted = ValueFunction(name: "reaction_put", with: "1 + $2").statement(parameterCount: 2)
        #expect(counted.name == "reaction_put" && counted.sql == "select reaction_put($1, $2), 1 + $2")
        let written = Statement("user", "select 1")
        #expect(written.statement(parameterCount: 3) == written && written.single == written)
    }

    /// Names of functions that Store calls, by the ways in which it does.
    private static func called(_ ways: String) throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/Store")
            .standardizedFileURL
        let call = try Regex(#"[\s.](?:\#(ways))\(\s*"((?:parley\.)?[a-z_]+)""#)
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        return try files.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            names.formUnion(text.matches(of: call).compactMap { $0[1].substring.map(String.init) })
        }
    }

    @Test("every function that Store calls exists; those called for a value return one")
    func functions() async throws {
        let values = try Self.called("call|value|json")
        let tables = try Self.called("row|rows|firstRow|page|begin|Creation")
        #expect(values.count > 80 && tables.count > 50)
        let database = try await MigratedDatabase.create()
        func names(_ names: Set<String>, lacking condition: String) async throws -> String {
            let list = names.map { "('\($0)')" }.joined(separator: ", ")
            return try await Psql.run(
                """
                select n from (values \(list)) x (n) where not exists (
                    select from pg_proc p join pg_type t on t.oid = p.prorettype
                    where p.oid = to_regproc(n) and \(condition))
                """, conninfo: database)
        }
        #expect(
            try await names(tables, lacking: "true") == "",
            "Sources/Store calls these functions, and sql/functions does not have them.")
        let isOneValue = "not p.proretset and t.typtype <> 'c' and t.typname <> 'record'"
        #expect(
            try await names(values, lacking: isOneValue) == "",
            "Sources/Store calls these by call, value or json; sql/functions must have them, and return one value.")
    }
}
