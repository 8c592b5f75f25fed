// A part of the settings table that is read together: a section of `--help` and of docs/configuration.md.

/// Settings about one subject.
package struct SettingGroup: Sendable {
    /// The heading.
    package let title: String
    package let settings: [Setting]

    init(_ title: String, _ settings: [Setting]) {
        self.title = title
        self.settings = settings
    }
}
