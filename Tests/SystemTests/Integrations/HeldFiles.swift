// Legal holds on running nodes: bytes that stay until the release, exports that others verify, nodes that are killed.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Legal holds on two nodes", .timeLimit(.minutes(3)))
    struct HeldFiles {
        private static let admin = TestNodes.admin
        private static let settings = ["PARLEY_ADMIN_TOKEN": admin.token]

        private func hold(_ user: Person, at node: Node) async throws -> String {
            let body: JSON = ["name": "Case", "user_id": .string(user.id)]
            let answer = try await node.client.post("/v1/admin/holds", body, as: Self.admin)
            #expect(answer.status == 201, "\(answer)")
            return answer.json["id"].string ?? ""
        }

        private func release(_ hold: String, at node: Node) async throws {
            #expect(try await node.client.delete("/v1/admin/holds/\(hold)", as: Self.admin).status == 204)
        }

        private func number(_ query: String, in database: String) async throws -> Int {
            Int(try await Psql.run(query, conninfo: database)) ?? -1
        }

        @Test("an erasure whose node is killed keeps every message once, and the release erases them")
        func killed() async throws {
            let database = try await MigratedDatabase.create()
            let first = try await Node.start(database: database, settings: Self.settings)
            let (ann, bob) = (try await first.client.register("Ann"), try await first.client.register("Bob"))
            let thread = try await first.client.thread("group", by: bob, with: [ann])
            let (text, count) = (unique("words"), 6_000)
            try await fill(thread, by: ann.id, with: text, count: count, in: database)
            let hold = try await hold(ann, at: first)
            #expect(try await first.client.delete("/v1/users/me?messages=erase", as: ann).status == 204)
            let kept = "select count(distinct message_id) from held_contents where payload->>'text' = '\(text)'"
            try await eventually("held contents") { try await number(kept, in: database) > 0 }
            try await first.kill()
            let second = try await Node.start(database: database, settings: Self.settings)
            try await eventually("the erasure to end", within: .seconds(60), every: .milliseconds(100)) {
                try await number("select count(*) from erasures", in: database) == 0
            }
            #expect(try await number(kept, in: database) == count)
            #expect(try await number("select count(*) from held_contents", in: database) == count)
            try await verify(hold, at: second, contents: count)
            try await release(hold, at: second)
            try await eventually("no held content", within: .seconds(60), every: .milliseconds(100)) {
                try await number("select count(*) from held_contents", in: database) == 0
            }
            #expect(try await tables(with: text, in: database) == "")
            try await second.stop()
        }

        /// Has Python's cryptography verify an export, and refuse one with a changed byte.
        private func verify(_ hold: String, at node: Node, contents: Int) async throws {
            let directory = try TemporaryDirectory()
            let export = try await node.client.get(
                "/v1/admin/holds/\(hold)/export", as: Self.admin, within: .seconds(60))
            #expect(export.status == 200)
            let key = try await node.client.get("/v1/admin/export-key", as: Self.admin).json["pem"].string ?? ""
            let script = """
                import base64, hashlib, json, sys
                from cryptography.hazmat.primitives.serialization import load_pem_public_key
                data = open("export", "rb").read()
                key = load_pem_public_key(open("key", "rb").read())
                cut = data.rindex(b"\\n", 0, len(data) - 1) + 1
                last, end = data[cut:], json.loads(data[cut:])
                assert hashlib.sha256(data[:cut]).hexdigest() == end["sha256"] and len(data[:cut]) == end["bytes"]
                lines = [json.loads(line) for line in data[:cut].splitlines()]
                assert [line["type"] for line in lines] == ["hold"] + ["held_content"] * end["contents"]
                signature = base64.b64decode(end["signature"], validate=True)
                signed = last[:last.index(b',"signature"')]
                key.verify(signature, signed)
                try:
                    key.verify(signature, signed.replace(b'"contents":', b'"contents":1'))
                    sys.exit("a changed manifest passes")
                except Exception as error:
                    assert type(error).__name__ == "InvalidSignature"
                print(end["contents"])
                """
            try export.body.write(to: URL(filePath: directory.path + "/export"))
            try Data(key.utf8).write(to: URL(filePath: directory.path + "/key"))
            let program = try await TestProcess.start(
                ["/usr/bin/python3", "-B", "-c", script], environment: [:], in: directory.path)
            let exit = try await program.waitForExit(within: .seconds(60))
            #expect(exit == .status(0), "\(program.errors)")
            #expect(String(decoding: program.output, as: UTF8.self) == "\(contents)\n")
        }
    }
}
