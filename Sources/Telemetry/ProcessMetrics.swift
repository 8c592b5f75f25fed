// The operating system's metrics of this process, under the names that every Prometheus exporter uses.
import Glibc

/// The process's use of the machine, as Linux reports it.
package struct ProcessMetrics: Sendable {
    package var cpuSeconds: Double
    /// Since 1970.
    package var startSeconds: Double
    package var residentByteCount: Int
    package var virtualByteCount: Int
    package var threadCount: Int
    package var openFileCount: Int
    package var openFileCountMax: Int

    /// Reads /proc. Blocks for about 0.1 ms, with ten thousand open files for some milliseconds. Returns nil if there
    /// is no /proc.
    package static func read() -> ProcessMetrics? {
        guard let stat = contents("/proc/self/stat"), let system = contents("/proc/stat"),
            let openFileCount = entryCount("/proc/self/fd")
        else { return nil }
        // proc(5): the second field is the program's name, in parentheses, and may hold anything.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst()
            .map { Int($0) ?? 0 }
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }?.split(separator: " ").last
        guard fields.count >= 22, let boot, let bootSeconds = Double(boot) else { return nil }
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        // The third field is the first here.
        return ProcessMetrics(
            cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            startSeconds: bootSeconds + Double(fields[19]) / Double(sysconf(Int32(_SC_CLK_TCK))),
            residentByteCount: fields[21] * sysconf(Int32(_SC_PAGESIZE)), virtualByteCount: fields[20],
            threadCount: fields[17], openFileCount: openFileCount,
            openFileCountMax: Int(clamping: files.rlim_cur))
    }

    package func write(to text: inout MetricsText) {
        text.counter("process_cpu_seconds_total", "Total user and system CPU time, in seconds.", cpuSeconds)
        text.gauge(
            "process_start_time_seconds", "Start time of the process, in seconds since 1970.", [([], startSeconds)])
        text.gauge("process_resident_memory_bytes", "Resident memory, in bytes.", residentByteCount)
        text.gauge("process_virtual_memory_bytes", "Virtual memory, in bytes.", virtualByteCount)
        text.gauge("process_threads", "Threads of the process.", threadCount)
        text.gauge("process_open_fds", "Open file descriptors, including sockets.", openFileCount)
        text.gauge("process_max_fds", "Maximum number of open file descriptors.", openFileCountMax)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }

    private static func contents(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Counts without `.`, `..`, and the descriptor that is open for counting.
    private static func entryCount(_ path: String) -> Int? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return max(0, count - 3)
    }
}
