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

    /// The settings that differ from their defaults, as metadata of a log line.
    package var changedMetadata: Logger.Metadata {
        let defaults = Settings()
        let changed = Setting.all.filter { $0.shown(in: self) != $0.shown(in: defaults) }
        return Logger.Metadata(
            uniqueKeysWithValues: changed.map { ($0.key, .string($0.shown(in: self) ?? "")) })
    }
}

/// Every way to print settings hides the secrets.
extension Settings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { effectiveDescription }
    package var debugDescription: String { effectiveDescription }
    package var customMirror: Mirror { Mirror(self, children: ["effective": effectiveDescription]) }
}
