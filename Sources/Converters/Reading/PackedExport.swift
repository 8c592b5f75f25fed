// Unpacks .zip, .tar and .tar.gz with Debian's unzip and tar into a new directory, after a look at what they hold.
import FoundationEssentials
import Glibc
import Linux

/// An archive file. What it holds is checked before anything is unpacked: names, kinds of entries, and the total size.
struct PackedExport {
    private enum Kind { case zip, tar }

    static let entryCountMax = 5_000_000
    /// What the programs may print while they unpack.
    private static let messagesByteCountMax: Int64 = 1_048_576

    private let path: String
    private let kind: Kind

    /// Returns nil if the file is not an archive by its first bytes.
    init?(_ path: String) throws {
        self.path = path
        var head: [UInt8] = []
        let reader = try ByteReader(path)
        while head.count < 512, let chunk = try reader.next() { head += chunk }
        if head.starts(with: [0x50, 0x4b, 3, 4]) || head.starts(with: [0x50, 0x4b, 5, 6]) {
            kind = .zip
        } else if head.starts(with: [0x1f, 0x8b]) || head.dropFirst(257).starts(with: Array("ustar".utf8)) {
            kind = .tar
        } else {
            return nil
        }
    }

    /// Returns a new directory with a directory of the files. The caller removes it.
    func unpack(into root: String) throws -> String {
        var template = Array((root + "/parley-convert-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw FileError("make a directory in", root) }
        let directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        do {
            let byteCount = try check(directory)
            let files = directory + "/files"
            guard mkdir(files, 0o700) == 0 else { throw FileError("make", files) }
            switch kind {
            case .zip:
                try run(
                    "unzip", ["-q", "-o", "-d", files, "--", path], in: directory,
                    writtenMax: byteCount + Self.messagesByteCountMax)
            case .tar:
                let options = ["--no-same-owner", "--no-same-permissions"]
                try run(
                    "tar", ["-x"] + options + ["-C", files, "-f", path], in: directory,
                    writtenMax: byteCount + Self.messagesByteCountMax)
            }
            return directory
        } catch {
            try? Files.remove(directory)
            throw error
        }
    }

    /// Returns how many bytes the files have when unpacked, as the archive says.
    private func check(_ directory: String) throws -> Int64 {
        var byteCount: Int64 = 0
        switch kind {
        case .zip:
            try run("unzip", ["-Z", "-T", "-s", "-h", "-t", path], in: directory) { list in
                var expected: Int?
                let found = try checkEntries(list, directory) { line in
                    if expected == nil { expected = ListedEntry.count(zip: line) }
                    return ListedEntry(zip: line)
                }
                guard found.count == expected else { throw unreadableList }
                byteCount = found.byteCount
            }
        case .tar:
            let options = ["-t", "-v", "--numeric-owner", "--quoting-style=escape", "-f", path]
            try run("tar", options, in: directory) { list in
                byteCount = try checkEntries(list, directory) { line throws(ConversionError) in
                    guard let entry = ListedEntry(tar: line) else { throw unreadableList }
                    return entry
                }.byteCount
            }
        }
        return byteCount
    }

    private var unreadableList: ConversionError {
        ConversionError("\(path): the list of its files cannot be read. Unpack it, name the directory.")
    }

    private func checkEntries(
        _ list: String, _ directory: String, _ parse: (String) throws(ConversionError) -> ListedEntry?
    ) throws -> (count: Int, byteCount: Int64) {
        let lines = try LineReader(list)
        var (count, total) = (0, Int64(0))
        while let line = try lines.next() {
            guard let entry = try parse(String(decoding: line, as: UTF8.self)) else { continue }
            count += 1
            let (sum, isTooLarge) = total.addingReportingOverflow(entry.byteCount)
            total = isTooLarge ? .max : sum
            guard entry.isPlain else {
                throw ConversionError("\(path): \(entry.name) is a link or a device. Exports have files only.")
            }
            guard entry.staysInside else { throw ExportFolder.outside(entry.name) }
            guard count <= Self.entryCountMax else {
                throw ConversionError(
                    "\(path) has more than \(Self.entryCountMax) files. Unpack it, name the directory.")
            }
        }
        guard let free = Self.freeByteCount(directory), total < free else {
            throw ConversionError(
                "\(path) needs \(total) bytes when unpacked, more than are free. Set TMPDIR to a larger disk.")
        }
        return (count, total)
    }

    private static func freeByteCount(_ path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    /// In another locale, unzip changes names that are not ASCII.
    private static let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC", "HOME=/"]

    /// - Parameters:
    ///   - writtenMax: the bytes that the program may write. unzip writes what it finds, and not what the archive says.
    ///   - read: receives the path of a file with what the program printed.
    private func run(
        _ name: String, _ arguments: [String], in directory: String, writtenMax: Int64? = nil,
        read: (String) throws -> Void = { _ in }
    ) throws {
        guard let program = ["/usr/bin/", "/bin/"].map({ $0 + name }).first(where: { access($0, X_OK) == 0 }) else {
            throw ConversionError(
                "\(name) is not installed. Install Debian's package \(name), or unpack \(path), name the directory.")
        }
        // Files, because a pipe that nobody reads would stop the program.
        let (output, errors) = (directory + "/output", directory + "/errors")
        let files = try [output, errors].map(Self.newFile)
        defer {
            for file in files { close(file) }
            for path in [output, errors] { unlink(path) }
        }
        let exit: ChildProcess.Exit
        do {
            exit = try Program(executable: program, arguments: arguments, environment: Self.environment).runBlocking(
                output: files[0], error: files[1], writtenMax: writtenMax)
        } catch is WrittenTooMuch {
            throw ConversionError("\(path) unpacks to more than it says. It is damaged, or made to fill the disk.")
        }
        guard exit == .status(0) else {
            let said = try Files.tail(errors, byteCountMax: 300) ?? ""
            throw ConversionError("\(path) cannot be unpacked: \(name) \(exit): \(said)")
        }
        try read(output)
    }

    private static func newFile(_ path: String) throws -> Int32 {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError("write", path) }
        return file
    }
}

/// A line of the listing of an archive.
struct ListedEntry: Equatable {
    let name: String
    let byteCount: Int64
    /// Whether it is a file or a directory.
    let isPlain: Bool

    /// As `unzip -Z -T -s` prints it: `-rw-r--r--  3.0 unx     1234 tx defN 20261124.100000 a/b.json`. Nil for the
    /// lines around the list.
    init?(zip line: String) {
        let parts = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
        guard parts.count == 8, let size = Int64(parts[3]), parts[6].contains(".") else { return nil }
        self.init(mode: parts[0], size: size, name: String(parts[7]))
    }

    /// The number of entries, from the line before a list: `Zip file size: 213 bytes, number of entries: 2`.
    static func count(zip line: String) -> Int? {
        guard line.hasPrefix("Zip file size: "), let colon = line.lastIndex(of: ":") else { return nil }
        return Int(line[line.index(after: colon)...].drop { $0 == " " })
    }

    /// As `tar -tv` prints it: `-rw-r--r-- 0/0  1234 2026-11-24 10:00 a/b.json`. A device has two numbers instead of a
    /// size: `crw-r--r-- 0/0   1,3 2026-11-24 10:00 null`.
    init?(tar line: String) {
        let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
        guard parts.count == 6, let size = Int64(parts[2]) ?? ("bc".contains(parts[0].prefix(1)) ? 0 : nil) else {
            return nil
        }
        self.init(mode: parts[0], size: size, name: String(parts[5]))
    }

    private init(mode: Substring, size: Int64, name: String) {
        self.name = name
        byteCount = size
        isPlain = mode.first == "-" || mode.first == "d" || mode.first == "?"
    }

    var staysInside: Bool { !name.hasPrefix("/") && !name.split(separator: "/").contains("..") }
}
