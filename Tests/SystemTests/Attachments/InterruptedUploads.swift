// Uploads that are cut again and again, on two nodes that are killed, on a PostgreSQL that is killed.

import Foundation
import TestSupport
import Testing

/// The settings of `make uploads`, from the environment.
private enum Plan {
    private static let environment = ProcessInfo.processInfo.environment

    static let cutCount = environment["PARLEY_ATTACHMENT_CUTS"].flatMap { Int($0) } ?? 30
    /// A cut takes up to 3 s if it kills the database, otherwise tenths of a second.
    static var minutesMax: Int { 5 + cutCount / 30 }
}

extension SystemTests {
    @Suite("Uploads that break off", .timeLimit(.minutes(Plan.minutesMax)))
    struct InterruptedUploads {
        @Test("continue at the other node; offsets are durable, and every file arrives unchanged")
        func cuts() async throws {
            let seed = Seed.fresh("uploads that break off")
            var stage = try await InterruptionStage(seed: seed)
            while stage.tally.cutCount < Plan.cutCount { try await stage.uploadOneFile() }
            print("uploads: \(Plan.cutCount) cuts, PARLEY_SEED=\(seed): \(stage.tally)")
            try await stage.nodes.stopAll()
        }
    }
}

/// Two nodes, an account, and what happened so far.
struct InterruptionStage {
    /// What ends a transfer.
    private enum End: CaseIterable { case connection, node, database, session }

    struct Tally: CustomStringConvertible {
        var fileCount = 0
        var cutCount = 0
        var nodeKillCount = 0
        var databaseKillCount = 0
        var wrongOffsetCount = 0
        /// Bytes that had been sent when the transfer broke, and those of them that the service had kept.
        var sentByteCount = 0
        var keptByteCount = 0

        var description: String {
            "\(fileCount) files, \(cutCount) cuts, \(nodeKillCount) kills of a node, \(databaseKillCount) of "
                + "PostgreSQL, \(wrongOffsetCount) wrong offsets; kept \(keptByteCount) of \(sentByteCount) bytes"
        }
    }

    let cluster: TestCluster
    let nodes: RestartableNodes
    let person: Person
    var chance: SplitMix64
    var tally = Tally()

    init(seed: UInt64) async throws {
        cluster = try await StoppableCluster.running()
        nodes = try await RestartableNodes.start(2, on: try await cluster.createDatabase())
        person = try await nodes[0].client.register("Ann")
        chance = SplitMix64(seed: seed)
    }

    /// Uploads a file of up to 3 MiB in one to six parts, on alternating nodes, with a cut after each but the last.
    mutating func uploadOneFile() async throws {
        let file = TestFile.random(chance.below(3 << 20) + 1)
        let id = newID()
        var number = chance.below(2)
        var offset: Int? = nil
        var sentEnd = 0
        for _ in 0..<chance.below(6) {
            offset = try await cut(file, id, at: offset, &sentEnd, on: number)
            number = 1 - number
        }
        if let offset { try await refuseWrongOffset(file, id, offset, on: number) }
        let node = await nodes[number]
        let connection = Connection(node.address)
        let last =
            if let offset {
                try await finish(file, id, from: offset, on: number)
            } else { try await connection.put(file.bytes, id, as: person) }
        #expect(last.status == 201 && last.json["size"].int == file.count, "\(last)")
        _ = try await connection.ready(id, as: person)
        let other = Connection(nodes.addresses[1 - number])
        let stored = try await eventually("an answer of the other node") {
            let stored = try await other.download(id, as: person)
            return stored.status == 503 ? nil : stored
        }
        #expect(stored.status == 200 && stored.digest == file.digest && stored.headers["etag"] == file.etag)
        // The account's quota must hold all files of a long run.
        #expect(try await other.delete(Attachments.path(id), as: person).status == 204)
        tally.fileCount += 1
    }

    /// Sends the rest of a file. A broken request that is still under way may move the offset forward after the test
    /// has asked for it. Then the client asks again, as it does after any 409, and after a 503: a node may have connections
    /// left that it has not found broken yet.
    private func finish(_ file: TestFile, _ id: String, from offset: Int, on number: Int) async throws -> Answer {
        let connection = Connection(nodes.addresses[number])
        var offset = offset
        for _ in 0..<5 {
            let answer = try await connection.append(
                file.bytes.dropFirst(offset), to: id, at: offset, complete: true, as: person)
            guard answer.status == 409 || answer.status == 503 else { return answer }
            offset = try await progress(id, whole: file.count, wasBegun: true, on: number)
        }
        throw TimedOut(description: "upload \(id): refused five times")
    }

    /// Sends a random part of the rest of a file, but never all of it, breaks the transfer off, and returns the offset
    /// that the other node reports then. `sentEnd` is the end of the bytes that were sent so far.
    private mutating func cut(
        _ file: TestFile, _ id: String, at known: Int?, _ sentEnd: inout Int, on number: Int
    ) async throws -> Int {
        var offset = known
        let end = nextEnd()
        // A PUT that waits for the database may start the upload again after a later request has continued it.
        if offset == nil, end == .database || end == .session {
            let begun = try await Connection(nodes.addresses[number]).begin(id, length: file.count, as: person)
            #expect(begun.status == 201, "\(begun)")
            offset = 0
        }
        let start = offset ?? 0
        let part = file.bytes[start..<start + chance.below(max(1, file.count - start))]
        sentEnd = max(sentEnd, start + part.count)
        let chunked = chance.chance(3)
        let address = nodes.addresses[number]
        let upload =
            if offset == nil {
                try await RawUpload.begin(
                    Attachments.path(id), at: address, as: person, chunked ? .chunked : .length(file.count))
            } else {
                try await RawUpload.resume(
                    id, at: start, of: file.count, on: address, as: person, chunked: chunked)
            }
        // While something dies, bytes are on their way.
        let pieces = 1 + chance.below(300_000)
        async let sending: Void? = try? upload.send(part, pieces: pieces)
        switch end {
        case .connection:
            _ = await sending
            await upload.end(by: RawUpload.Cut.allCases[chance.below(3)])
        case .node:
            try await Task.sleep(for: .milliseconds(chance.below(40)))
            try await nodes.kill(number)
            _ = await sending
            await upload.connection.close()
            try await nodes.restart(number)
            tally.nodeKillCount += 1
        case .database, .session:
            try await Task.sleep(for: .milliseconds(chance.below(40)))
            try await killDatabase(wholly: end == .database)
            _ = await sending
            await upload.connection.close()
        }
        tally.cutCount += 1
        tally.sentByteCount += part.count
        let reached = try await progress(id, whole: file.count, wasBegun: offset != nil, on: 1 - number)
        tally.keptByteCount += reached - start
        #expect(reached >= start, "acknowledged bytes are lost: \(reached) of \(start), after \(end)")
        #expect(reached <= sentEnd, "offset \(reached), but only \(sentEnd) bytes were sent")
        // An offset that a client was told stands, whatever dies next.
        if chance.chance(5), tally.cutCount % 3 == 0 {
            try await killDatabase(wholly: false)
            let after = try await progress(id, whole: file.count, wasBegun: true, on: number)
            #expect(after >= reached && after <= sentEnd, "told \(reached), after a crash \(after)")
        }
        return reached
    }

    /// Most cuts end the connection only. Every sixth kills a node, every tenth PostgreSQL.
    private mutating func nextEnd() -> End {
        switch tally.cutCount {
        case let count where count % 10 == 4: count % 20 == 4 ? .database : .session
        case let count where count % 6 == 3: .node
        default: .connection
        }
    }

    /// SIGKILL to PostgreSQL's first process, or to one session, whose death ends all others: what was not flushed is
    /// lost in both cases.
    private mutating func killDatabase(wholly: Bool) async throws {
        if wholly {
            if let pid = cluster.processID { kill(pid, SIGKILL) }
            try await eventually("PostgreSQL to end") { cluster.isRunning ? nil : true }
            try await cluster.start()
        } else {
            #expect(try await cluster.killSession())
        }
        tally.databaseKillCount += 1
        try await eventually("PostgreSQL to accept connections", every: .milliseconds(50)) {
            (try? await cluster.psql("select 1")) == "1"
        }
    }

    /// Asks a node for the offset until it is known. An upload of which nothing arrived may be unknown: its offset is 0,
    /// and it is begun here.
    private func progress(_ id: String, whole: Int, wasBegun: Bool, on number: Int) async throws -> Int {
        let connection = Connection(nodes.addresses[number])
        return try await eventually("the offset", every: .milliseconds(20)) {
            let answer = try await connection.progress(of: id, as: person)
            if answer.status == 404, !wasBegun {
                let begun = try await connection.begin(id, length: whole, as: person)
                return begun.status == 201 ? begun.offset : nil
            }
            #expect([204, 503].contains(answer.status), "\(answer)")
            return answer.status == 204 ? answer.offset : nil
        }
    }

    private mutating func refuseWrongOffset(
        _ file: TestFile, _ id: String, _ offset: Int, on number: Int
    ) async throws {
        guard chance.chance(2) else { return }
        let wrong = offset > 0 && chance.chance(2) ? chance.below(offset) : offset + 1
        let answer = try await Connection(nodes.addresses[number]).append(
            Data(file.bytes.prefix(10)), to: id, at: wrong, complete: false, as: person)
        #expect(answer.status == 409 && answer.code == "upload_offset_mismatch", "\(answer)")
        #expect(answer.offset ?? 0 >= offset, "\(answer)")
        tally.wrongOffsetCount += 1
    }
}
