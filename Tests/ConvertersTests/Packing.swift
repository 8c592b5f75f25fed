// Archives for tests: whole directories by Python's own modules, and archives of single entries byte by byte.
import Foundation
import TestSupport

enum Packing {
    /// Packs a directory as .zip or .tar.gz. Returns the file's path.
    static func pack(_ directory: String, as file: String) throws -> String {
        let module = file.hasSuffix(".zip") ? "zipfile" : "tarfile"
        try Tool.run(["python3", "-m", module, "-c", file, directory])
        return file
    }

    /// Writes a zip archive of one file of zeros, of which the archive claims another size.
    static func bomb(claimedByteCount: Int, byteCount: Int, as file: String) throws {
        let script = """
            import struct, sys, zipfile
            file, claimed, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                with archive.open("users.json", "w") as entry:
                    for _ in range(size // 1000000): entry.write(bytes(1000000))
            data = bytearray(open(file, "rb").read())
            for place in (22, data.rindex(b"PK\\x01\\x02") + 24): struct.pack_into("<I", data, place, claimed)
            open(file, "wb").write(data)
            """
        try Tool.run(["python3", "-c", script, file, "\(claimedByteCount)", "\(byteCount)"])
    }

    /// A tar archive of one entry. The kind is `0` for a file and `2` for a symbolic link.
    static func tar(_ name: String, kind: Character = "0", link: String = "") -> [UInt8] {
        var header = [UInt8](repeating: 0, count: 512)
        func set(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        set(name, at: 0)
        set("0000644", at: 100)
        set("0000000", at: 108)
        set("0000000", at: 116)
        set("00000000002", at: 124)
        set("14524577000", at: 136)
        set("        ", at: 148)
        set(String(kind), at: 156)
        set(link, at: 157)
        set("ustar", at: 257)
        set("00", at: 263)
        if kind != "0" { set("00000000000", at: 124) }
        let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
        set(String(repeating: "0", count: 6 - sum.count) + sum + "\0 ", at: 148)
        let content: [UInt8] = kind == "0" ? Array("[]".utf8) + [UInt8](repeating: 0, count: 510) : []
        return header + content + [UInt8](repeating: 0, count: 1024)
    }

    /// A zip archive of one file with the content `[]`, not compressed.
    static func zip(_ name: String, mode: UInt32 = 0o100644) -> [UInt8] {
        func number(_ value: Int, _ byteCount: Int) -> [UInt8] {
            (0..<byteCount).map { UInt8(value >> (8 * $0) & 0xff) }
        }
        let crc = 0x0D4C_BB29
        let facts = number(20, 2) + number(0, 4) + number(0, 2) + number(0x576E, 2) + number(crc, 4)
        let sizes = number(2, 4) + number(2, 4) + number(name.utf8.count, 2) + number(0, 2)
        let local = number(0x0403_4B50, 4) + facts + sizes + Array(name.utf8) + Array("[]".utf8)
        let central =
            number(0x0201_4B50, 4) + number(0x0314, 2) + facts + sizes + number(0, 2) + number(0, 2) + number(0, 2)
            + number(Int(mode) << 16, 4) + number(0, 4) + Array(name.utf8)
        let end = number(0x0605_4B50, 4) + number(0, 4) + number(1, 2) + number(1, 2)
        return local + central + end + number(central.count, 4) + number(local.count, 4) + number(0, 2)
    }
}
