// Which transfers give their slot to others when a node has none left.
import Basics
import Domain
import NIOCore
import NIOPosix
import Telemetry
import TestSupport
import Testing

@testable import API

@Suite("Which transfer gives way", .timeLimit(.minutes(1)))
struct DisplacingTransfers {
    private static let start = ContinuousClock.now
    private let ann = UserID.make()
    private let bob = UserID.make()
    private let near = IPAddress(parsing: "192.0.2.1")
    private let far = IPAddress(parsing: "198.51.100.1")

    /// After a minute, and all as fast but one.
    private func loser(
        _ holders: TransferHolders, to account: UserID, at address: IPAddress?, slow: UInt64 = 0
    ) -> UInt64? {
        holders.displaced(by: account, at: address, now: Self.start + .seconds(60)) { id in
            id == slow ? 500_000 : 60_000_000
        }
    }

    @Test("is the slowest of the address that holds the most, whatever its accounts")
    func addresses() {
        var holders = TransferHolders()
        for id in 1...12 { holders.add(UInt64(id), of: .make(), at: far, now: Self.start) }
        for id in 13...14 { holders.add(UInt64(id), of: bob, at: near, now: Self.start) }
        #expect(loser(holders, to: ann, at: near, slow: 7) == 7)
        // Slowness alone is no reason.
        #expect(loser(holders, to: ann, at: near, slow: 13).map { $0 <= 12 } == true)
        #expect(loser(holders, to: ann, at: far, slow: 7) == nil)
    }

    @Test("is one of the account that holds the most within an address, and where clients have none")
    func accounts() {
        for address in [near, nil] {
            var holders = TransferHolders()
            for id in 1...4 { holders.add(UInt64(id), of: ann, at: address, now: Self.start) }
            holders.add(5, of: .make(), at: address, now: Self.start)
            #expect(loser(holders, to: bob, at: address, slow: 3) == 3)
            #expect(loser(holders, to: ann, at: address) == nil)
            for id in 1...3 { holders.remove(UInt64(id)) }
            #expect(loser(holders, to: bob, at: address) == nil)
            #expect(holders.count(of: ann) == 1)
        }
    }

    @Test("is not one that has just begun and had no time to be fast")
    func fresh() {
        var holders = TransferHolders()
        holders.add(1, of: ann, at: far, now: Self.start)
        holders.add(2, of: ann, at: far, now: Self.start + .seconds(60))
        let found = holders.displaced(by: bob, at: near, now: Self.start + .milliseconds(60_010)) { id in
            id == 1 ? 500_000 : 0
        }
        #expect(found == 1)
    }

    @Test("could never take the slot back from the one that got it")
    func noCircle() {
        var random = SplitMix64(freshFor: "displaced transfers")
        let accounts = (0..<4).map { _ in UserID.make() }
        let addresses = [near, far, IPAddress(parsing: "203.0.113.9"), nil]
        for _ in 0..<2_000 {
            var holders = TransferHolders()
            var owners: [UInt64: (UserID, IPAddress?)] = [:]
            for id in 1...UInt64(Int.random(in: 1...12, using: &random)) {
                let owner = (accounts[random.below(4)], addresses[random.below(4)])
                holders.add(id, of: owner.0, at: owner.1, now: Self.start)
                owners[id] = owner
            }
            let newcomer = (accounts[random.below(4)], addresses[random.below(4)])
            guard let id = loser(holders, to: newcomer.0, at: newcomer.1), let old = owners[id] else { continue }
            holders.remove(id)
            holders.add(100, of: newcomer.0, at: newcomer.1, now: Self.start)
            // By its slowness the newcomer's would be the first to go.
            #expect(loser(holders, to: old.0, at: old.1, slow: 100) != 100, "\(owners) \(newcomer) \(id)")
        }
    }
}

@Suite("Slots for transfers", .timeLimit(.minutes(1)))
struct SlotsForTransfers {
    private let ann = UserID.make()
    private let bob = UserID.make()
    private let displaced = Counter()

    private func slots(_ countMax: Int, ofAccount accountCountMax: Int = 8) -> TransferSlots {
        TransferSlots("uploads", countMax: countMax, accountCountMax: accountCountMax, displaced: displaced)
    }

    @Test("pass from the account with the most to a newcomer, which ends the transfer and frees nothing twice")
    func passes() async throws {
        let slots = slots(3)
        let cuts = Tally()
        var held: [TransferSlot] = []
        for _ in 0..<3 {
            let slot = try await slots.begin(by: ann, from: nil, byteCount: nil)
            slot.whenDisplaced { cuts.add() }
            held.append(slot)
        }
        let other = try await slots.begin(by: bob, from: nil, byteCount: nil)
        #expect(cuts.value == 1 && displaced.value == 1)
        #expect(slots.large.load == (busy: 3, waiting: 0))
        held = []
        #expect(slots.large.load.busy == 1)
        withExtendedLifetime(other) {}
    }

    @Test("are waited for by those who hold as many as others")
    func waits() async throws {
        let slots = slots(2)
        var first: TransferSlot? = try await slots.begin(by: ann, from: nil, byteCount: nil)
        let second = try await slots.begin(by: bob, from: nil, byteCount: nil)
        let third = Task { try await slots.begin(by: ann, from: nil, byteCount: nil) }
        try await eventually("the third waits") { slots.large.load.waiting == 1 }
        first = nil
        #expect(first == nil)
        let slot = try await third.value
        #expect(slots.large.load == (busy: 2, waiting: 0) && displaced.value == 0)
        withExtendedLifetime((slot, second)) {}
    }

    @Test("for files of up to a mebibyte are their own")
    func small() async throws {
        let slots = slots(1)
        let large = try await slots.begin(by: ann, from: nil, byteCount: 1_048_577)
        let small = try await slots.begin(by: ann, from: nil, byteCount: 1_048_576)
        #expect(slots.large.load.busy == 1 && slots.small.load.busy == 1)
        withExtendedLifetime((large, small)) {}
    }
}

@Suite("Transfers on a full node", .timeLimit(.minutes(1)))
struct TransfersOnAFullNode {
    private static func node() async throws -> TestNode {
        try await TestNode { settings in
            settings.limits.uploadCountMax = 4
            settings.limits.accountUploadCountMax = 4
            settings.limits.downloadCountMax = 4
            settings.limits.accountDownloadCountMax = 4
        }
    }

    @Test("let another account upload at once; the displaced upload keeps its bytes and continues later")
    func uploads() async throws {
        let node = try await Self.node()
        let ann = try await Person.make("Ann", port: node.port)
        let bob = try await Person.make("Bob", port: node.port)
        let bytes = someBytes(2_000_000)
        let ids = (0..<4).map { _ in newAttachment() }
        let gate = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: (String, Reply).self) { group in
            for id in ids {
                group.addTask {
                    let request = ann.client.request(
                        "PUT", "/v1/attachments/\(id)", headers: ["Content-Length: 2000000"],
                        body: Array(bytes[..<300_000]))
                    // The rest is sent at the end of the test.
                    let reply = try await ann.client.exchange(request) {
                        for await _ in gate.stream {}
                        return ByteBuffer(bytes: bytes[300_000...])
                    }
                    return (id, reply)
                }
            }
            for id in ids {
                try await eventually("the upload has begun") {
                    try await ann.client.progress(of: id).headers["upload-offset"] == "262144"
                }
            }
            let reply = try await bob.client.upload(bytes, as: newAttachment())
            #expect(reply.status == 201, "\(reply.text)")
            gate.continuation.finish()
            var replies: [(String, Reply)] = []
            for try await reply in group { replies.append(reply) }
            #expect(replies.count { $0.1.status == 201 } == 3)
            let (id, refused) = try #require(replies.first { $0.1.status == 503 })
            #expect(refused.problemCode == "overloaded" && refused.headers["retry-after"] != nil, "\(refused.text)")
            #expect(refused.headers["upload-offset"] == "300000")
            let rest = try await ann.client.append(Array(bytes[300_000...]), to: id, at: 300_000, isComplete: true)
            #expect(rest.status == 201, "\(rest.text)")
            #expect(try await ann.client.download(id).body == bytes)
        }
        let metrics = try await Client(port: node.port).get("/metrics").text
        #expect(metrics.contains("parley_uploads_displaced_total 1\n"))
    }

    @Test("let another account download at once, and cut a slow one, whose client asks for the rest by Range")
    func downloads() async throws {
        let node = try await Self.node()
        let ann = try await Person.make("Ann", port: node.port)
        let bob = try await Person.make("Bob", port: node.port)
        let bytes = someBytes(20_000_000)
        let id = try await ann.file(bytes)
        let file = try await bob.file(Array(bytes[..<3_000_000]))
        // Clients that read nothing: the kernel takes some megabytes, and then the node waits.
        let request = ann.client.request("GET", "/v1/attachments/\(id)", headers: [], body: [])
        var readers: [any Channel] = []
        for _ in 0..<4 {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false).connect(host: "127.0.0.1", port: node.port).get()
            try await channel.writeAndFlush(request)
            readers.append(channel)
        }
        let metrics = Client(port: node.port)
        try await eventually("four downloads run") {
            try await metrics.get("/metrics").text.contains("parley_downloads_running 4\n")
        }
        #expect(try await bob.client.download(file).body == Array(bytes[..<3_000_000]))
        try await eventually("one of the four is cut") {
            let text = try await metrics.get("/metrics").text
            return text.contains("parley_downloads_displaced_total 1\n")
                && text.contains("parley_downloads_running 3\n")
        }
        let rest = try await ann.client.download(id, headers: ["Range: bytes=19000000-"])
        #expect(rest.status == 206 && rest.body == Array(bytes[19_000_000...]))
        for reader in readers { try? await reader.close() }
    }
}
