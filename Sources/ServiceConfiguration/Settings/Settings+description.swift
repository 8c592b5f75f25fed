// Prints the settings for the log at start, without secrets.
package import Logging

extension Settings {
    /// All settings that have a value, defaults included, by file key, in the table's order.
    package var effective: [(key: String, value: String)] {
        Setting.all.compactMap { setting in setting.shown(in: self).map { (setting.key, $0) } }
    }

    /// All settings in one line: `http_host=127.0.0.1 http_port=8080 …`.
    package var effectiveDescription: String {
        effective.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    /// The settings as metadata of a structured log.
    package var effectiveMetadata: Logger.Metadata {
        Logger.Metadata(uniqueKeysWithValues: effective.map { ($0.key, .string($0.value)) })
    }
}

/// Every way to print settings hides the secrets.
extension Settings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { effectiveDescription }
    package var debugDescription: String { effectiveDescription }
    package var customMirror: Mirror { Mirror(self, children: ["effective": effectiveDescription]) }
}
