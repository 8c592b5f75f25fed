// A virus scanner that is down, slow, or answers with nonsense.
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import VirusScanner

@Suite("A faulty virus scanner", .timeLimit(.minutes(1)))
struct ScannerFaults {
    private struct SourceFailure: Error {}

    private func scan(
        _ behaviour: FakeScanner.Behaviour, pieceCount: Int = 4, idle: Duration = .seconds(20),
        total: Duration = .seconds(30)
    ) async throws -> VirusScanner.Verdict {
        let fake = try await FakeScanner.start(behaviour)
        var timeouts = VirusScanner.Timeouts()
        timeouts.idle = idle
        timeouts.total = total
        let scanner = VirusScanner(.host("127.0.0.1", port: fake.port), timeouts: timeouts)
        let result: Result<VirusScanner.Verdict, any Error>
        do {
            let pieces = AsyncStream { stream in
                for _ in 0..<pieceCount { stream.yield([UInt8](repeating: 1, count: 256 * 1024)) }
                stream.finish()
            }
            result = .success(try await scanner.scan(pieces))
        } catch {
            result = .failure(error)
        }
        try await fake.close()
        return try result.get()
    }

    private func failure(
        _ behaviour: FakeScanner.Behaviour, pieceCount: Int = 4, idle: Duration = .seconds(20),
        total: Duration = .seconds(30)
    ) async -> ScanFailure? {
        await #expect(throws: ScanFailure.self) {
            try await scan(behaviour, pieceCount: pieceCount, idle: idle, total: total)
        }
    }

    @Test("is unreachable when nothing listens at its port or its socket")
    func away() async throws {
        let port = try Sockets.freePort()
        let addresses: [VirusScanner.Address] = [
            .host("127.0.0.1", port: port), .socket(path: "/tmp/no-such-socket"),
        ]
        for address in addresses {
            let failure = await #expect(throws: ScanFailure.self) {
                try await VirusScanner(address).scan(AsyncStream<[UInt8]> { $0.finish() })
            }
            guard case .unreachable = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
    }

    @Test("is given up when it does not answer")
    func silent() async {
        #expect(await failure(.silent, idle: .milliseconds(300)) == .timeout)
    }

    @Test("is given up when it does not read")
    func blocked() async {
        #expect(await failure(.readsNothing, pieceCount: 200, idle: .milliseconds(300)) == .timeout)
    }

    @Test("is given up after the total time, however often it sends a byte")
    func drip() async {
        #expect(await failure(.drips, total: .milliseconds(600)) == .timeout)
    }

    @Test("is lost when it closes without an answer, before or after it has read the bytes")
    func closes() async {
        for behaviour in [FakeScanner.Behaviour.closesAtOnce, .closesAtEnd] {
            guard case .lost? = await failure(behaviour, pieceCount: 100) else {
                Issue.record("\(behaviour)")
                continue
            }
        }
    }

    @Test(
        "is refused when it answers with something else than a verdict",
        arguments: ["", "OK", "stream: FOUND", "stream: OK\n", "UNKNOWN COMMAND", "\u{1}\u{2}é", "HTTP/1.1 400 Bad"])
    func garbage(_ answer: String) async {
        guard case .refused(let text)? = await failure(.answers(answer)) else {
            Issue.record("\(answer)")
            return
        }
        #expect(text.utf8.allSatisfy { (0x20...0x7e).contains($0) }, "log lines stay readable")
    }

    @Test("is refused when its answer does not end")
    func endless() async {
        guard case .refused(let text)? = await failure(.answers(String(repeating: "x", count: 100_000))) else {
            Issue.record("an endless answer was read")
            return
        }
        #expect(text.utf8.count < 200)
    }

    @Test("may answer before it has read everything")
    func early() async throws {
        #expect(try await scan(.answersAtOnce("stream: Early FOUND"), pieceCount: 1) == .found("Early"))
        #expect(await failure(.answersAtOnce("INSTREAM size limit exceeded. ERROR"), pieceCount: 1) == .tooLarge)
    }

    @Test("fails a scan with the error of its source")
    func source() async throws {
        let fake = try await FakeScanner.start(.silent)
        let scanner = VirusScanner(.host("127.0.0.1", port: fake.port))
        let pieces = AsyncThrowingStream<[UInt8], any Error> { stream in
            stream.yield([1])
            stream.finish(throwing: SourceFailure())
        }
        await #expect(throws: SourceFailure.self) { try await scanner.scan(pieces) }
        try await fake.close()
    }

    @Test("does not outlive the cancellation of a scan", .timeLimit(.minutes(1)))
    func cancelled() async throws {
        let fake = try await FakeScanner.start(.silent)
        let scanner = VirusScanner(.host("127.0.0.1", port: fake.port))
        let scan = Task { try await scanner.scan(AsyncStream<[UInt8]> { $0.finish() }) }
        try await eventually("the scanner has read everything") { fake.readCount == 1 }
        scan.cancel()
        await #expect(throws: CancellationError.self) { try await scan.value }
        try await fake.close()
    }
}

/// A server that behaves like no clamd should.
final class FakeScanner: Sendable {
    enum Behaviour: Sendable {
        /// Reads everything and never answers.
        case silent
        case readsNothing
        /// Sends a byte every 100 ms.
        case drips
        case closesAtOnce
        /// Reads to the end of the stream, then closes.
        case closesAtEnd
        /// Reads to the end of the stream, then answers.
        case answers(String)
        case answersAtOnce(String)
    }

    private final class Connection: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let behaviour: Behaviour
        let reads: Tally
        var tail: [UInt8] = []

        init(_ behaviour: Behaviour, _ reads: Tally) { (self.behaviour, self.reads) = (behaviour, reads) }

        func channelActive(context: ChannelHandlerContext) {
            switch behaviour {
            case .closesAtOnce: context.close(promise: nil)
            case .answersAtOnce(let text): context.writeAndFlush(NIOAny(Self.answer(text)), promise: nil)
            case .drips:
                let channel = context.channel
                context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { _ in
                    channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
                }
            default: break
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            tail = (tail + unwrapInboundIn(data).readableBytesView).suffix(4)
            // Only the length that ends the stream is zero: the pieces of these tests have no zero bytes.
            guard tail == [0, 0, 0, 0] else { return }
            reads.add()
            switch behaviour {
            case .closesAtEnd: context.close(promise: nil)
            case .answers(let text): context.writeAndFlush(NIOAny(Self.answer(text)), promise: nil)
            default: break
            }
        }

        static func answer(_ text: String) -> ByteBuffer { ByteBuffer(bytes: Array(text.utf8) + [0]) }
    }

    let port: Int
    private let channel: any Channel
    private let reads: Tally

    private init(port: Int, channel: any Channel, reads: Tally) {
        (self.port, self.channel, self.reads) = (port, channel, reads)
    }

    /// Streams that were read to their end.
    var readCount: Int { reads.value }

    static func start(_ behaviour: Behaviour) async throws -> FakeScanner {
        let reads = Tally()
        var bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(behaviour, reads))
                }
            }
        if case .readsNothing = behaviour { bootstrap = bootstrap.childChannelOption(.autoRead, value: false) }
        let channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        return FakeScanner(port: channel.localAddress?.port ?? 0, channel: channel, reads: reads)
    }

    func close() async throws { try await channel.close() }
}
