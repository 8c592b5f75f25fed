// Files that settings name, with the one error for a file that can't be read.
import FoundationEssentials

/// A file named by a setting.
struct SettingFile {
    /// The setting's environment variable.
    let variable: String
    let path: String

    func checkReadable() throws {
        guard FileManager.default.isReadableFile(atPath: path) else { throw unreadable }
    }

    func contents() throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            throw unreadable
        }
    }

    private var unreadable: StartError { StartError("\(variable): \(path) can't be read.") }
}
