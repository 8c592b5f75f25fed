// Processor time and memory of processes of this machine, from /proc.
import Domain
import Foundation
import Glibc

enum Processes {
    /// Returns the seconds of processor time that a process's threads have used; nil when there is no such process.
    /// - Parameter withReaped: adds the time of its ended children.
    static func cpuSeconds(_ pid: Int, withReaped: Bool = false) -> Double? {
        guard let fields = stat(pid), fields.count > 14 else { return nil }
        let ticks = fields[11...(withReaped ? 14 : 12)].compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Returns the processor time of PostgreSQL: its first process and all its children.
    static func cpuSecondsOfFamily(_ pid: Int) -> Double? {
        guard let own = cpuSeconds(pid, withReaped: true) else { return nil }
        return children(of: pid).compactMap { cpuSeconds($0) }.reduce(own, +)
    }

    static func children(of pid: Int) -> [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int($0) }.filter { stat($0)?.dropFirst().first == "\(pid)" }
    }

    /// Kilobytes of memory: resident (RSS), and proportional (PSS), which divides shared pages among their users.
    static func memoryKB(_ pid: Int) -> (rss: Int, pss: Int)? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8) else { return nil }
        func value(_ name: String) -> Int? {
            text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                .flatMap { Int($0.filter(\.isNumber)) }
        }
        guard let rss = value("Rss"), let pss = value("Pss") else { return nil }
        return (rss, pss)
    }

    /// The most memory that this process has had (VmHWM), in 10^6 bytes.
    static func ownPeakMB() throws -> Double {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kibibytes = Double(line.filter(\.isNumber))
        else { throw BenchFailure("/proc/self/status has no VmHWM") }
        return kibibytes * 1024 / 1e6
    }

    /// The fields of /proc/PID/stat from the state on. The fields before it are left out, because a name may hold
    /// spaces.
    private static func stat(_ pid: Int) -> [Substring]? {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return nil }
        return text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    /// The processor time of this process.
    static var ownCPUSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

/// Processor time by part at one point in time. Nil where no process was named.
struct CPUTimes: Sendable {
    var generator: Double
    var service: Double?
    var postgres: Double?

    /// - Throws: when a named process does not exist.
    static func now(serverPIDs: [Int], postgresPID: Int?) throws -> CPUTimes {
        var service: Double?
        for pid in serverPIDs {
            guard let seconds = Processes.cpuSeconds(pid) else { throw BenchFailure("no process has the id \(pid)") }
            service = (service ?? 0) + seconds
        }
        let postgres = postgresPID.map(Processes.cpuSecondsOfFamily)
        if case .some(.none) = postgres { throw BenchFailure("no process has the id \(postgresPID ?? 0)") }
        return CPUTimes(generator: Processes.ownCPUSeconds, service: service, postgres: postgres ?? nil)
    }

    static func - (left: CPUTimes, right: CPUTimes) -> CPUTimes {
        func difference(_ left: Double?, _ right: Double?) -> Double? {
            left.flatMap { left in right.map { left - $0 } }
        }
        return CPUTimes(
            generator: left.generator - right.generator, service: difference(left.service, right.service),
            postgres: difference(left.postgres, right.postgres))
    }

    static func + (left: CPUTimes, right: CPUTimes) -> CPUTimes {
        func sum(_ left: Double?, _ right: Double?) -> Double? {
            left == nil && right == nil ? nil : (left ?? 0) + (right ?? 0)
        }
        return CPUTimes(
            generator: left.generator + right.generator, service: sum(left.service, right.service),
            postgres: sum(left.postgres, right.postgres))
    }

    /// Shares of one core over a number of seconds.
    func percent(of elapsed: Double) -> JSONValue {
        func share(_ seconds: Double?) -> JSONValue { .decimal(orNull: seconds.map { $0 * 100 / elapsed }, 2) }
        return .object([
            .init("generator", share(generator)), .init("service", share(service)), .init("postgres", share(postgres)),
        ])
    }

    /// Microseconds for each of `count` items.
    func micros(per count: Int) -> JSONValue {
        func each(_ seconds: Double?) -> JSONValue { .decimal(orNull: seconds.map { $0 * 1e6 / Double(count) }, 1) }
        return .object([
            .init("generator", each(generator)), .init("service", each(service)), .init("postgres", each(postgres)),
        ])
    }
}
