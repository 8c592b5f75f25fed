// Reads and parses the configuration file. SettingsTable.swift defines the keys.
import CommandLineFlags
import FoundationEssentials
import Glibc

/// One `key = value` per line. Blank lines and lines that start with `#` are ignored. A value ends with its line.
enum ConfigurationFile {
    struct Entry: Equatable {
        let key: String
        let value: String
        /// Counted from 1.
        let line: Int
    }

    /// Returns the entries, and a sentence for each line that is neither an entry nor ignored.
    static func parse(_ text: String) -> (entries: [Entry], mistakes: [(line: Int, sentence: String)]) {
        var entries: [Entry] = []
        var mistakes: [(line: Int, sentence: String)] = []
        var lineOfKey: [String: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (line, content) in zip(1..., lines) {
            let trimmed = content.trimmed
            if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
            // The message does not repeat the line, which may contain a password.
            guard let equals = trimmed.firstIndex(of: "="), equals > trimmed.startIndex else {
                mistakes.append((line, "expected `key = value`."))
                continue
            }
            let key = String(trimmed[..<equals].trimmed)
            let value = String(trimmed[trimmed.index(after: equals)...].trimmed)
            if value.isEmpty {
                mistakes.append((line, "\(key.quoted) has no value. Remove the line to use the default."))
            } else if let first = lineOfKey.updateValue(line, forKey: key) {
                mistakes.append((line, "\(key.quoted) is already set in line \(first)."))
            } else {
                entries.append(Entry(key: key, value: value, line: line))
            }
        }
        return (entries, mistakes)
    }

    static let byteCountMax = 1_048_576

    /// Returns the text of a file. Blocks: use at start only. The error completes the sentence "cannot be read: ".
    package static func read(_ path: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw Unreadable(description: "there is no such file")
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw Unreadable(description: "permission denied")
        } catch let error as CocoaError {
            // Only the system's message, such as "Is a directory", without what Foundation adds.
            guard let reason = error.underlying as? POSIXError else { throw error }
            throw Unreadable(description: String(cString: strerror(reason.code.rawValue)))
        }
        guard data.count <= byteCountMax, let text = String(validating: data, as: UTF8.self) else {
            throw Unreadable(description: "it is not UTF-8 text of at most \(byteCountMax) bytes")
        }
        return text
    }

    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
