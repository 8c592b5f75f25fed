// A client of clamd, the daemon of ClamAV (clamd(8), INSTREAM).
import NIOCore
import NIOPosix

/// Asks a ClamAV daemon about bytes. Each scan has a connection of its own. The caller bounds how many run at once.
package struct VirusScanner: Sendable {
    package enum Address: Sendable, Equatable {
        case host(String, port: Int)
        /// A Unix socket.
        case socket(path: String)
    }

    package enum Verdict: Sendable, Equatable {
        case clean
        /// The name of the signature that the bytes match.
        case found(String)
    }

    package struct Timeouts: Sendable {
        package var connect = Duration.seconds(5)
        /// Without a byte in either direction. clamd answers only when it has scanned everything.
        package var idle = Duration.seconds(60)
        /// The whole scan.
        package var total = Duration.seconds(600)
    }

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let address: Address
    private let timeouts: Timeouts

    package init(_ address: Address, timeouts: Timeouts = Timeouts()) {
        self.address = address
        self.timeouts = timeouts
    }

    /// Scans bytes. Reads the next piece when the connection accepts more, so about two pieces are in memory.
    /// - Parameter pieces: any sizes; the daemon bounds their sum by its `StreamMaxLength`.
    /// - Throws: `ScanFailure` if the daemon is down or cannot scan the bytes. Rethrows errors of `pieces`.
    package func scan<Pieces: AsyncSequence>(_ pieces: Pieces) async throws -> Verdict
    where Pieces.Element == [UInt8] {
        try await connect().executeThenClose { inbound, outbound in
            // If the bytes are too many, the daemon answers and closes before it has read all of them. So a failing
            // write does not end the scan: the answer may be there.
            try await Self.send(pieces, to: outbound)
            try Task.checkCancellation()
            return try ScanAnswer.verdict(try await Self.answer(inbound))
        }
    }

    private func connect() async throws -> Connection {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(timeouts.connect))
        let (idle, total) = (TimeAmount(timeouts.idle), timeouts.total)
        @Sendable func prepare(_ channel: any Channel) -> EventLoopFuture<Connection> {
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandlers(
                    IdleStateHandler(allTimeout: idle), ScanTimeouts(total: total))
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        do {
            return switch address {
            case .host(let host, let port):
                try await bootstrap.connect(host: host, port: port, channelInitializer: prepare)
            case .socket(let path):
                try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: prepare)
            }
        } catch {
            try Task.checkCancellation()
            throw ScanFailure.unreachable("\(error)")
        }
    }

    /// Writes the command, each piece after its length, and a length of zero. Returns early if the connection breaks.
    private static func send<Pieces: AsyncSequence>(
        _ pieces: Pieces, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws where Pieces.Element == [UInt8] {
        guard await write(ByteBuffer(string: "zINSTREAM\0"), to: outbound) else { return }
        for try await piece in pieces where !piece.isEmpty {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(piece.count + 4)
            buffer.writeInteger(UInt32(piece.count))
            buffer.writeBytes(piece)
            guard await write(buffer, to: outbound) else { return }
        }
        _ = await write(ByteBuffer(integer: UInt32(0)), to: outbound)
    }

    /// Returns false if the connection is broken or the task is cancelled.
    private static func write(
        _ buffer: ByteBuffer, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async -> Bool {
        do {
            try await outbound.write(buffer)
            return true
        } catch {
            return false
        }
    }

    private static func answer(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async throws -> String {
        var answer = ScanAnswer()
        do {
            for try await buffer in inbound {
                if let text = try answer.add(buffer.readableBytesView) { return text }
            }
        } catch let failure as ScanFailure {
            throw failure
        } catch {
            try Task.checkCancellation()
            throw ScanFailure.lost("\(error)")
        }
        try Task.checkCancellation()
        throw ScanFailure.lost("it was closed without an answer")
    }
}
