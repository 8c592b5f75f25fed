// Converts exports for tests: the samples in Samples/, or directories that a test has made.
import Converters
import Domain
import Foundation
import TestSupport

/// The lines and the report of one conversion.
struct ConvertedSample {
    let lines: [String]
    let report: ConversionReport

    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Samples").path

    /// The sample's directory; for Matrix too, which has one file and its files' folder.
    static func path(_ system: ChatSystem) -> String { root + "/" + system.rawValue }

    init(_ system: ChatSystem, _ path: String? = nil, namespace: String = "acme") throws {
        var lines: [String] = []
        report = try Conversion.run(from: system, file: path ?? Self.path(system), namespace: namespace) { line in
            lines.append(String(decoding: line, as: UTF8.self))
        }
        self.lines = lines
    }

    /// A copy of the sample that a test may change.
    static func copy(_ system: ChatSystem, into directory: TemporaryDirectory) throws -> String {
        let copy = directory.path + "/" + system.rawValue
        try FileManager.default.copyItem(atPath: path(system), toPath: copy)
        return copy
    }

    /// The lines of one type, each as its `data`.
    func data(_ type: String) throws -> [JSONValue] {
        try lines.map { try JSONReader.read(Array($0.utf8)) }
            .filter { $0["type"] == .string(type) }.compactMap { $0["data"] }
    }
}

/// Replaces a text in a file, which must have it.
func replace(_ old: String, with new: String, in file: String) throws {
    let text = try String(contentsOfFile: file, encoding: .utf8)
    guard text.contains(old) else { throw CocoaError(.fileReadCorruptFile) }
    try text.replacingOccurrences(of: old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
}

extension JSONValue {
    var compact: String { String(decoding: compactText.utf8, as: UTF8.self) }
}
