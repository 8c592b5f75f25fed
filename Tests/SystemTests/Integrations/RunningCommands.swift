// Commands as members and servers see them: requests, replies, failures, and nodes that are killed.
import Foundation
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
            let isOver = Flag()
            defer { isOver.set() }
            let sending = Task {
                let writer = Connection(steady.address)
                var sent: [(id: String, number: Int)] = []
                while !isOver.isSet {
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
            isOver.set()
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
