// The configuration file: its format and how it is read. What its keys mean is in SettingsTable.swift.
import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `key = value` lines. Blank lines and lines that begin with `#` say nothing; a value goes to the end of its line.
enum ConfigurationFile {
    struct Entry: Equatable {
        let key: String
        let value: String
        /// From 1.
        let line: Int
    }

    /// Every line that is an entry, and a sentence for each that is neither that nor empty.
    static func parse(_ text: String) -> (entries: [Entry], mistakes: [(line: Int, sentence: String)]) {
        var entries: [Entry] = []
        var mistakes: [(line: Int, sentence: String)] = []
        var lineOfKey: [String: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (line, content) in zip(1..., lines) {
            let trimmed = content.trimmed
            if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
            // The line is not repeated: it may hold a password.
            guard let equals = trimmed.firstIndex(of: "="), equals > trimmed.startIndex else {
                mistakes.append((line, "is not of the form `key = value`."))
                continue
            }
            let key = String(trimmed[..<equals].trimmed)
            let value = String(trimmed[trimmed.index(after: equals)...].trimmed)
            if value.isEmpty {
                mistakes.append((line, "\(key.quoted) has no value; leave the line out for the default."))
            } else if let first = lineOfKey.updateValue(line, forKey: key) {
                mistakes.append((line, "\(key.quoted) stands in line \(first) already."))
            } else {
                entries.append(Entry(key: key, value: value, line: line))
            }
        }
        return (entries, mistakes)
    }

    static let byteCountMax = 1_048_576

    /// The text of a file; blocking, for use at start. The error's description completes "can't be read: ".
    package static func read(_ path: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            throw Unreadable(description: "there is no such file")
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw Unreadable(description: "permission denied")
        } catch let error as CocoaError {
            // The system's own words, such as "Is a directory", and not all that Foundation has wrapped around them.
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
