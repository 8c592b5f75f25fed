// Pictures full of metadata, and what other programs find in them after the service has removed it: Pillow compares
// pixels, exiftool reads metadata.

import Foundation

package struct TestPictures: Sendable {
    package let directory: TemporaryDirectory

    private static let made = Result { try TestPictures() }

    /// The pictures of the usual size, made once.
    package static func shared() throws -> TestPictures { try made.get() }

    /// All texts of the metadata contain this word. Colour profiles do not.
    package static let secret = Array("SECRET".utf8)

    /// Makes some fifty JPEG, PNG, GIF and WebP pictures: all orientations, colour profiles, animations, previews,
    /// bytes after the end. The usual size is in landscape format; fuzzing wants small files. Takes 2 s.
    package init(width: Int = 150, height: Int = 100) throws {
        directory = try TemporaryDirectory()
        try Tool.run(
            [
                "/usr/bin/python3", Repository.file("Tests/TestSupport/Pictures/make.py").path, directory.path,
                "\(width)", "\(height)",
            ])
    }

    /// An empty directory.
    private init(empty: Void) throws { directory = try TemporaryDirectory() }

    /// Names and bytes, by name.
    package func all() throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted().map { ($0, try bytes($0)) }
    }

    package func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: directory.path + "/" + name)))
    }

    /// Returns the same pictures after a change of their bytes.
    package func map(_ change: (_ name: String, _ bytes: [UInt8]) throws -> [UInt8]) throws -> TestPictures {
        let changed = try TestPictures(empty: ())
        for (name, bytes) in try all() {
            try Data(try change(name, bytes)).write(to: URL(filePath: changed.directory.path + "/" + name))
        }
        return changed
    }

    /// Returns a line for each difference in pixels, display, colour profile or animation, as Pillow decodes them.
    package func differences(from other: TestPictures) throws -> [String] {
        let script = Repository.file("Tests/TestSupport/Pictures/compare.py").path
        let output = try Tool.run(["/usr/bin/python3", script, directory.path, other.directory.path])
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns all that exiftool finds in the pictures: "name: group:tag".
    package func tags() throws -> [String] {
        let output = try Tool.run(["exiftool", "-a", "-u", "-ee", "-G1", "-j", directory.path])
        let files = try JSONSerialization.jsonObject(with: output) as? [[String: Any]] ?? []
        return files.flatMap { file in
            let name = (file["SourceFile"] as? String ?? "").split(separator: "/").last ?? ""
            return file.keys.map { "\(name): \($0)" }
        }.sorted()
    }
}
