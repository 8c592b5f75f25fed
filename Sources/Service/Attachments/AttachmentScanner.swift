// The virus scanner as the settings want it used.
import Basics
import Logging
import ServiceConfiguration
import Synchronization
import Telemetry
import VirusScanner

/// Scans attachments, and decides about those that cannot be scanned.
final class AttachmentScanner: Sendable {
    enum Decision: Equatable {
        case accepted
        /// The name of the signature that the bytes match, or why they cannot be scanned at all.
        case refused(String)
        /// Scan again later.
        case postponed(seconds: Int)
    }

    private let scanner: VirusScanner
    private let fail: Settings.ScanFail
    private let log: RateLimitedLog
    /// Of all attachments together: while the scanner is away, they fail for the same reason.
    private let backoff = Mutex(Backoff(first: .seconds(2), cap: .seconds(60)))
    let failures = Counter()

    init(_ scanner: VirusScanner, fail: Settings.ScanFail, logger: Logger) {
        self.scanner = scanner
        self.fail = fail
        log = RateLimitedLog(logger)
    }

    func scan(_ bytes: AttachmentBytes) async throws -> Decision {
        do {
            let verdict = try await scanner.scan(bytes)
            backoff.withLock { $0.reset() }
            return switch verdict {
            case .clean: .accepted
            case .found(let name): .refused(name)
            }
        } catch let failure as ScanFailure {
            failures.add()
            switch fail {
            case .open:
                log.warning("scanning an attachment failed; it is ready without a scan", reason: "\(failure)")
                return .accepted
            case .closed where failure == .tooLarge:
                // To wait would not help.
                return .refused("\(failure)")
            case .closed:
                log.warning("scanning an attachment failed; it waits and is scanned again", reason: "\(failure)")
                let wait = backoff.withLock { $0.next(random: .random(in: 0..<1)) }
                return .postponed(seconds: max(1, Int(wait / .seconds(1))))
            }
        }
    }
}

extension Settings {
    func makeAttachmentScanner(logger: Logger) -> AttachmentScanner? {
        scanner.map { AttachmentScanner(VirusScanner(VirusScanner.Address($0)), fail: scanFail, logger: logger) }
    }
}

extension VirusScanner.Address {
    init(_ address: ScannerAddress) {
        self =
            switch address {
            case .host(let host, let port): .host(host, port: port)
            case .socket(let path): .socket(path: path)
            }
    }
}
