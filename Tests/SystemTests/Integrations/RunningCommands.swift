// Commands as members and servers see them: requests, replies, failures, and nodes that are killed.
import Foundation
import Synchronization
import TestSupport
import Testing

/// The settings of the long form, from the environment.
private enum Scale {
    static let faultSeconds = ProcessInfo.processInfo.environment["COMMAND_SECONDS"].flatMap { Double($0) } ?? 10
    static var minutesMax: Int { 5 + Int(faultSeconds / 60) }
}

extension SystemTests {
    @Suite("Running commands", .timeLimit(.minutes(Scale.minutesMax)))
    struct RunningCommands {
        private static func start() async throws -> (Node, CommandStage) {
            let database = try await MigratedDatabase.create()
            let node = try await Node.start(database: database, settings: CommandStage.settings)
            return (node, try await CommandStage(try await WebhookSink.start(), at: node.client))
        }

        @Test("sends a signed request, and posts the answer as the bot's reply, in groups and direct threads")
        func replies() async throws {
            let (node, stage) = try await Self.start()
            let echo = try await stage.command("/echo", ["description": "Repeats", "name": "Echo"])
            for thread in [try await stage.thread(), try await stage.thread("direct")] {
                let message = try await node.client.sent("/echo  hello you ", in: thread, as: stage.ann)
                let reply = try await stage.reply(to: message, in: thread)
                #expect(reply["payload"]["text"] == "echo hello you" && reply["type"] == "message")
                #expect(reply["sender"]["id"].string == echo.bot && reply["sender"]["name"] == "Echo")
                let offered = try await node.client.get("/v1/commands?thread_id=\(thread)", as: stage.ben)
                #expect(offered.json["commands"] == [["word": "/echo", "description": "Repeats"]])

                let request = try #require(try stage.sink.requests("/echo").last)
                #expect(request.verified == (WebhookSink.canVerify ? true : nil) && request.signatures == 1)
                #expect(request.id?.wholeMatch(of: /evt_0_[0-9]+_[0-9]+/) != nil)
                #expect(request.json["type"] == "command" && request.json["timestamp"].string != nil)
                let data = request.json["data"]
                #expect(data["command"] == "/echo" && data["text"] == "hello you")
                #expect(data["thread_id"].string == thread && data["message"]["id"].string == message)
                #expect(data["message"]["payload"]["text"] == "/echo  hello you ")
                #expect(data["sender"]["id"].string == stage.ann.id && data["sender"]["name"] == "Ann")
            }
            #expect(try await node.client.get("/v1/users/\(echo.bot)", as: stage.ben).json["kind"] == "bot")
            #expect(try stage.sink.requests("/echo").count == 2)
            #expect(try await node.metric("parley_command_runs_total{outcome=\"replied\"}") == 2)

            let rotated = try await node.client.post(
                "/v1/admin/commands/\(echo.id)/rotate", [:], as: CommandStage.operatorPerson)
            try await stage.sink.expect([echo.secret, try #require(rotated.json["secret"].string)], of: "/echo")
            #expect(try await stage.answer(to: "/echo again", in: try await stage.thread()) == "echo again")
            let last = try #require(try stage.sink.requests("/echo").last)
            #expect(last.signatures == 2 && last.verified == (WebhookSink.canVerify ? true : nil))
            try await node.stop()
        }

        @Test("leaves all other messages alone, and the command of one thread is unknown in others")
        func others() async throws {
            let (node, stage) = try await Self.start()
            let thread = try await stage.thread()
            _ = try await node.client.sent("/echo before", in: thread, as: stage.ann)
            let echo = try await stage.command("/echo")
            let other = try await stage.thread()
            let local = try await stage.command("/local", ["thread_id": .string(other)])
            for text in ["/echox", "echo", " /echo", "/Echo", "/echo!", "x /echo", "/", "/local a"] {
                _ = try await node.client.sent(text, in: thread, as: stage.ann)
            }
            let encrypted: JSON = ["type": "encrypted", "payload": ["ciphertext": "L2VjaG8="]]
            let custom: JSON = ["type": "x-note", "payload": ["text": "/echo"]]
            for body in [encrypted, custom] {
                let sent = try await node.client.post("/v1/threads/\(thread)/messages", body, as: stage.ann)
                #expect(sent.status == 201, "\(sent)")
            }
            // The bot of a hook, and a reply that is a command itself.
            let hook = try await node.client.post(
                "/v1/admin/hooks", ["thread_id": .string(thread), "name": "H"], as: CommandStage.operatorPerson)
            let url = try #require(hook.json["url"].string)
            let path = String(url.dropFirst(node.address.description.count))
            #expect(try await node.client.post(path, ["text": "/echo hook"]).status == 200)
            try await stage.sink.behave(.answer(200, body: #"{"payload":{"text":"/echo loop","n":1}}"#), of: "/echo")
            let message = try await node.client.sent("/echo", in: thread, as: stage.ann)
            let reply = try await stage.reply(to: message, in: thread)
            #expect(reply["payload"] == ["text": "/echo loop", "n": 1])
            #expect(try await stage.answer(to: "/local b", in: other) == "echo b")
            // What is answered without a text ends in silence.
            try await stage.sink.behave(.answer(204), of: "/echo")
            let silent = try await node.client.sent("/echo\nquiet", in: thread, as: stage.ann)
            try await eventually("the request") { try stage.sink.requests("/echo").count == 2 ? true : nil }
            for command in [echo, local] { try await stage.settled(command) }
            #expect(try await stage.replies(to: silent, in: thread).isEmpty)
            #expect(try stage.sink.requests("/echo").count == 2 && stage.sink.requests("/local").count == 1)
            try await node.stop()
        }

        @Test("retries what fails three times, and then says in the thread why it failed")
        func failures() async throws {
            let (node, stage) = try await Self.start()
            let thread = try await stage.thread()
            let long = #"{"text":"\#(String(repeating: "x", count: 16 * 1024 + 1))"}"#
            let lasting: [(String, WebhookSink.Behaviour, String)] = [
                ("/broken", .answer(500), "its server answered with status 500"),
                ("/limited", .answer(429, headers: ["retry-after": "1"]), "its server answered with status 429"),
                ("/moved", .answer(302, headers: ["location": "/echo"]), "its server answered with status 302"),
                ("/drop", .drop, "the connection to its server failed"),
                ("/garbage", .answer(200, body: "<html>"), "its server sent an invalid answer"),
                ("/long", .answer(200, body: long), "the answer of its server is too long"),
            ]
            for (word, behaviour, _) in lasting {
                _ = try await stage.command(word)
                try await stage.sink.behave(behaviour, of: word, times: .max)
            }
            _ = try await stage.command("/flaky")
            try await stage.sink.behave(.answer(503), of: "/flaky", times: 2)
            _ = try await stage.command("/hang")
            try await stage.sink.behave(.hang, of: "/hang")
            let gone = try await stage.command("/gone")
            try await stage.sink.behave(.answer(410), of: "/gone", times: .max)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (word, _, reason) in lasting {
                    group.addTask {
                        let text = try await stage.answer(to: word + " x", in: thread, within: .seconds(90))
                        #expect(text == "The command \(word) failed: \(reason).")
                        let ids = try stage.sink.requests(word).map(\.id)
                        // A try over a connection that breaks without an answer is more than one request.
                        #expect(word == "/drop" ? ids.count >= 4 : ids.count == 4, "\(word): \(ids)")
                        #expect(Set(ids).count == 1, "\(word): \(ids)")
                    }
                }
                group.addTask {
                    let text = try await stage.answer(to: "/flaky y", in: thread)
                    let requests = try stage.sink.requests("/flaky")
                    #expect(text == "echo y" && requests.count == 3)
                }
                group.addTask {
                    let text = try await stage.answer(to: "/hang z", in: thread, within: .seconds(60))
                    let requests = try stage.sink.requests("/hang")
                    #expect(text == "echo z" && requests.count == 2)
                }
                group.addTask {
                    let text = try await stage.answer(to: "/gone", in: thread)
                    let reason = try await stage.get(gone)["disabled_reason"]
                    #expect(text == "The command /gone failed: it is disabled." && reason == "gone")
                }
                try await group.waitForAll()
            }
            let offered = try await node.client.get("/v1/commands?thread_id=\(thread)", as: stage.ann)
            #expect(!offered.json["commands"].items.contains { $0["word"] == "/gone" })
            #expect(try stage.sink.requests("/gone").count == 1)
            try await node.stop()
        }

        @Test("lets no command wait for a slow one, which gets eight requests at a time, four of each person")
        func slow() async throws {
            let (node, stage) = try await Self.start()
            let thread = try await stage.thread()
            let slow = try await stage.command("/slow")
            _ = try await stage.command("/fast")
            // libcurl waits for the first answer of a server without TLS before it opens another connection.
            #expect(try await stage.answer(to: "/slow first", in: thread) == "echo first")
            try await stage.sink.behave(.hang, of: "/slow", times: .max)
            for number in 0..<20 { _ = try await node.client.sent("/slow \(number)", in: thread, as: stage.ann) }
            try await eventually("four requests") { try stage.sink.requests("/slow").count >= 5 ? true : nil }
            for number in 0..<20 { _ = try await node.client.sent("/slow \(number)", in: thread, as: stage.ben) }
            try await eventually("eight requests") { try stage.sink.requests("/slow").count >= 9 ? true : nil }
            // A command has 15 s to answer, so the same eight are still under way.
            for number in 0..<3 {
                #expect(try await stage.answer(to: "/fast \(number)", in: thread) == "echo \(number)")
            }
            #expect(try stage.sink.requests("/slow").count == 9)
            try await eventually("eight requests under way") {
                try await node.metric("parley_command_requests_running") == 8 ? true : nil
            }
            // What waits for a command that is deleted is not answered.
            let deleted = try await node.client.delete("/v1/admin/commands/\(slow.id)", as: CommandStage.operatorPerson)
            #expect(deleted.status == 204)
            #expect(try await stage.answer(to: "/fast end", in: thread) == "echo end")
            #expect(try stage.sink.requests("/slow").count == 9)
            try await node.stop()
        }

        @Test("replies to each message exactly once while nodes are killed and servers fail")
        func kills() async throws {
            let database = try await MigratedDatabase.create()
            var settings = CommandStage.settings
            settings["PARLEY_DRAIN_SECONDS"] = "1"
            let nodes = try await RestartableNodes.start(2, on: database, settings: settings)
            let steady = try await Node.start(database: database, settings: settings)
            let sink = try await WebhookSink.start(seed: Seed.fresh("commands while nodes are killed"))
            let stage = try await CommandStage(sink, at: Connection(steady.address))
            let command = try await stage.command("/echo")
            try await sink.behave(.faults(share: 0.3), of: "/echo", times: .max)
            let threads = [try await stage.thread(), try await stage.thread("direct")]
            let end = ContinuousClock.now + .seconds(Scale.faultSeconds)
            let isOver = Mutex(false)
            defer { isOver.withLock { $0 = true } }
            let sending = Task {
                let writer = Connection(steady.address)
                var sent: [(id: String, number: Int)] = []
                while !isOver.withLock({ $0 }) {
                    let number = sent.count
                    sent.append(
                        (try await writer.sent("/echo \(number)", in: threads[number % 2], as: stage.ann), number))
                    try await Task.sleep(for: .milliseconds(60))
                }
                return sent
            }
            var round = 0
            while ContinuousClock.now < end || round < 3 {
                // Commands are answered between two kills.
                let before = try sink.requests("/echo").count
                try await eventually("ten more requests", within: .seconds(60)) {
                    try sink.requests("/echo").count >= before + 10
                }
                try await nodes.kill(round % 2)
                // The leases of the killed node end now, and not after 30 s. Others are claimed a second time.
                _ = try await Psql.run("update command_runs set due_at = now() where is_running", conninfo: database)
                try await nodes.restart(round % 2)
                round += 1
            }
            isOver.withLock { $0 = true }
            let sent = try await sending.value
            #expect(sent.count > 20)
            try await stage.settled(command, within: .seconds(90))
            for (index, thread) in threads.enumerated() {
                let replies = try await stage.caller.history(of: thread, as: stage.ann).filter {
                    $0["sender"]["id"].string == command.bot
                }
                let expected = sent.filter { $0.number % 2 == index }
                #expect(replies.compactMap { $0["reply_to"].string }.sorted() == expected.map(\.id).sorted())
                for (id, number) in expected {
                    let text = replies.first { $0["reply_to"].string == id }?["payload"]["text"].string ?? "none"
                    #expect(text == "echo \(number)" || text.hasPrefix("The command /echo failed: "), "\(text)")
                }
            }
            let requests = try sink.requests("/echo")
            #expect(requests.allSatisfy { $0.verified != false })
            #expect(Set(requests.compactMap(\.id)).count == sent.count)
            try await nodes.stopAll()
            try await steady.stop()
        }
    }
}
