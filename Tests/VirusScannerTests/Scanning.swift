// Scans with a real clamd.
import Foundation
import TestSupport
import Testing

@testable import VirusScanner

@Suite("Scanning with clamd", .timeLimit(.minutes(1)))
struct Scanning {
    private static let clamd = Task { try await Clamd.start(byteCountMax: 2 << 20) }

    private func scanner() async throws -> VirusScanner {
        VirusScanner(.host("127.0.0.1", port: try await Self.clamd.value.port))
    }

    /// Bytes in pieces of random sizes, one of them empty.
    private func pieces(_ bytes: [UInt8]) -> AsyncStream<[UInt8]> {
        AsyncStream { stream in
            var random = SplitMix64(freshFor: "pieces for the virus scanner")
            var rest = bytes[...]
            stream.yield([])
            while !rest.isEmpty {
                let piece = rest.prefix(1 + random.below(100_000))
                stream.yield(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            stream.finish()
        }
    }

    @Test("accepts harmless bytes, and none at all")
    func clean() async throws {
        #expect(try await scanner().scan(pieces([UInt8](repeating: 7, count: 1_000_000))) == .clean)
        #expect(try await scanner().scan(pieces([])) == .clean)
    }

    @Test("finds harmful bytes across the borders of pieces, and names them")
    func found() async throws {
        let noise = (0..<300_000).map { _ in UInt8.random(in: 0...255) }
        let verdict = try await scanner().scan(pieces(noise + Clamd.harmfulContent + noise))
        #expect(verdict == .found(Clamd.signature))
        let single = Clamd.harmfulContent.map { [$0] }
        let stream = AsyncStream { stream in
            for piece in single { stream.yield(piece) }
            stream.finish()
        }
        #expect(try await scanner().scan(stream) == .found(Clamd.signature))
    }

    @Test("works through a Unix socket")
    func socket() async throws {
        let scanner = VirusScanner(.socket(path: try await Self.clamd.value.socket))
        #expect(try await scanner.scan(pieces(Clamd.harmfulContent)) == .found(Clamd.signature))
        #expect(try await scanner.scan(pieces([1, 2, 3])) == .clean)
    }

    @Test("says that the bytes are too many when the daemon does")
    func tooLarge() async throws {
        let scanner = try await scanner()
        // The answer may be lost with the connection, when the kernel resets it for unread bytes.
        var failures: [ScanFailure] = []
        for _ in 0..<5 {
            let failure = await #expect(throws: ScanFailure.self) {
                try await scanner.scan(pieces([UInt8](repeating: 0, count: 4 << 20)))
            }
            if let failure { failures.append(failure) }
        }
        #expect(failures.contains(.tooLarge), "\(failures)")
    }

    @Test("scans many files at once")
    func concurrent() async throws {
        let scanner = try await scanner()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let isHarmful = number.isMultiple(of: 2)
                    let bytes = [UInt8](repeating: 1, count: 200_000) + (isHarmful ? Clamd.harmfulContent : [])
                    return try await scanner.scan(pieces(bytes)) == (isHarmful ? .found(Clamd.signature) : .clean)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
