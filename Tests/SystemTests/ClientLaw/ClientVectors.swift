// The client vectors: recorded from running nodes, compared with the server while they are recorded, and with the files.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Records each vector and compares it with its file. `make vectors` replaces the files that differ.
    @Suite("Client vectors", .timeLimit(.minutes(3)))
    struct ClientVectors {
        @Test(
            "record stories in which a device shows what a fresh inbox and the history have",
            arguments: VectorScenario.allCases)
        func story(_ scenario: VectorScenario) async throws {
            var stage = try await VectorStage(at: try await TestNodes.shared().addresses)
            try await scenario.play(&stage)
            try await stage.finish()
            try check(scenario.rawValue, scenario.about, of: stage.ben, stage.steps)
        }

        @Test("record random histories", arguments: [1, 2, 3] as [UInt64])
        func history(_ seed: UInt64) async throws {
            var player = try await HistoryPlayer(
                at: try await TestNodes.shared().addresses, population: [], recordedDevice: 0)
            var generator = OperationGenerator(seed: seed)
            // Bounded, in case the node accepts no operation any more.
            for round in 1...400 where player.doneCount < 60 {
                // One after the other, so that each recording has the same history.
                for operation in generator.draw(player, nodeCount: 2) where !operation.isTimed {
                    try await player.play([operation])
                }
                if round % 8 == 0 { try await player.play([Operation(number: 0, device: 0, node: 0, kind: .check)]) }
            }
            try await player.checkAll()
            player.expectMessages()
            let about = "A random history of four people: every call, in any order (seed \(seed))."
            try check("random-\(seed)", about, of: player.people[0], player.devices[0].recording?.steps ?? [])
        }

        @Test("record an expired cursor: named threads lose their messages, others keep them")
        func expired() async throws {
            let log = try await ShortLog.make(on: try await TestCluster.shared())
            let nodes = try await RestartableNodes.start(2, on: log.conninfo)
            var stage = try await VectorStage(at: nodes.addresses)
            let (ann, ben, cleo) = (stage.ann, stage.ben, stage.cleo)
            let busy = try await stage.group("Busy", by: ann, with: [ben])
            let quiet = try await stage.group("Quiet", by: ann, with: [ben])
            let left = try await stage.group("Left", by: ann, with: [ben, cleo])
            for thread in [busy, quiet, left] {
                for number in 1...3 { try await stage.send("Number \(number)", in: thread, by: ann) }
            }
            // A delivered mark that follows later would be a change, too.
            try await stage.read(3, in: quiet, by: ben)
            try await stage.check()
            // The device is offline now, for longer than the log is kept.
            let edited = try await stage.send("Edited", in: busy, by: ann)
            try await stage.edit(edited, "Edited while away", in: busy, by: ann)
            try await stage.removeMember(ben, in: left, by: ann)
            let new = try await stage.group("New", by: cleo, with: [ben])
            try await stage.send("Hello", in: new, by: cleo, mentions: [ben])
            // A part of this log has 600 events, and is trimmed once the next part has begun.
            let others = try await stage.group("Others", by: ann, with: [cleo])
            let waiting = stage
            try await eventually("the cursor to expire", within: .seconds(60), every: .milliseconds(20)) {
                for _ in 0..<50 { try await waiting.send("Still here", in: others, by: ann) }
                _ = try await log.trim()
                return try await waiting.isExpired()
            }
            try await stage.reloadExpired()
            try await stage.check()
            try await stage.send("You are back", in: busy, by: ann)
            try await stage.send("You are back", in: quiet, by: ann)
            try await stage.finish()
            let about = "A cursor that has expired (410): named threads lose their messages, others keep them."
            try check("expired", about, of: stage.ben, stage.steps)
            try await nodes.stopAll()
        }

        private func check(_ name: String, _ about: String, of person: Person, _ steps: [JSON]) throws {
            try VectorFile(name: name, about: about, user: person.id, steps: steps).check()
        }
    }
}
