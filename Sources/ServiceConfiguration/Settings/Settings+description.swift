// Showing the settings in use, for the log at start. Secrets never leave through here.
package import Logging

extension Settings {
    /// What is set and what is default, by the file's names, in the table's order; what is unset is left out.
    package var effective: [(key: String, value: String)] {
        Setting.all.compactMap { setting in setting.shown(in: self).map { (setting.key, $0) } }
    }

    /// All in one line: `http_host=127.0.0.1 http_port=8080 …`.
    package var effectiveDescription: String {
        effective.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    /// The same for a structured log.
    package var effectiveMetadata: Logger.Metadata {
        Logger.Metadata(uniqueKeysWithValues: effective.map { ($0.key, .string($0.value)) })
    }
}

/// Printing settings by accident shows no more than printing them on purpose.
extension Settings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { effectiveDescription }
    package var debugDescription: String { effectiveDescription }
    package var customMirror: Mirror { Mirror(self, children: ["effective": effectiveDescription]) }
}
