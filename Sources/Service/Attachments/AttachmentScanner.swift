// The virus scanner as the settings want it used.
import Basics
import Logging
import ServiceConfiguration
import Synchronization
import Telemetry
import VirusScanner

/// The time that the scanner has been away. Of all attachments together: they fail for the same reason.
private struct Absence {
    private var backoff = Backoff(first: .seconds(2), cap: .seconds(60))
    private var end: ContinuousClock.Instant?

    /// Returns the seconds to the next try.
    mutating func fail(now: ContinuousClock.Instant) -> Int {
        end = now + backoff.next(random: .random(in: 0..<1))
        return pauseSeconds(now: now) ?? 1
    }

    func pauseSeconds(now: ContinuousClock.Instant) -> Int? {
        guard let end, end > now else { return nil }
        return max(1, Int(((end - now) / .seconds(1)).rounded(.up)))
    }
}

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
    private let absence = Mutex(Absence())
    private let failures: Counter

    init(_ scanner: VirusScanner, fail: Settings.ScanFail, failures: Counter, logger: Logger) {
        self.scanner = scanner
        self.fail = fail
        self.failures = failures
        log = RateLimitedLog(logger)
    }

    func scan(_ bytes: AttachmentBytes) async throws -> Decision {
        do {
            let verdict = try await scanner.scan(bytes)
            absence.withLock { $0 = Absence() }
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
                return .postponed(seconds: absence.withLock { $0.fail(now: .now) })
            }
        }
    }

    /// How long a file must wait because the scanner was down a moment ago; nil if it may be scanned now. Files that
    /// come after a pause find out whether the scanner is back.
    var pauseSeconds: Int? { absence.withLock { $0.pauseSeconds(now: .now) } }
}

extension Settings {
    /// - Parameter failures: counts scans without a verdict.
    func makeAttachmentScanner(failures: Counter, logger: Logger) -> AttachmentScanner? {
        scanner.map {
            AttachmentScanner(
                VirusScanner(VirusScanner.Address($0)), fail: scanFail, failures: failures, logger: logger)
        }
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
