// Where the session's token is kept. An app for Apple's systems gives a storage in the Keychain.
import Foundation

/// Keeps the token of the session. A program that reads the token can act as the user.
public protocol TokenStorage: Sendable {
    /// The stored token; nil if there is none.
    func load() throws -> String?
    /// Stores the token, or removes it.
    func save(_ token: String?) throws
}

/// Keeps the token in a file that only this user of the system may read.
public struct FileTokenStorage: TokenStorage {
    private let file: URL

    /// Stores the token in this file.
    public init(file: URL) { self.file = file }

    public func load() throws -> String? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try String(contentsOf: file, encoding: .utf8)
    }

    public func save(_ token: String?) throws {
        guard let token else {
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
            return
        }
        // The mode is set before the token is in the file.
        let new = file.appendingPathExtension("new")
        guard
            FileManager.default.createFile(
                atPath: new.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw ParleyError.storeFailed("\(new.path) cannot be written") }
        let handle = try FileHandle(forWritingTo: new)
        defer { try? handle.close() }
        try handle.write(contentsOf: Data(token.utf8))
        try handle.synchronize()
        guard rename(new.path, file.path) == 0 else {
            throw ParleyError.storeFailed("\(file.path): \(String(cString: strerror(errno)))")
        }
    }
}

/// Keeps the token only as long as the client lives.
public final class MemoryTokenStorage: TokenStorage {
    private let token = Locked<String?>(nil)

    /// Makes an empty storage.
    public init() {}

    public func load() -> String? { token.withLock { $0 } }

    public func save(_ token: String?) { self.token.withLock { $0 = token } }
}
