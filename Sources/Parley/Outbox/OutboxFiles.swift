// The bytes of attachments that are not uploaded yet, in files of their own: a message in the outbox survives the app.
import Foundation

struct OutboxFiles: Sendable {
    let directory: URL
    /// The directory of a store in memory. It goes with its client.
    private let temporary: TemporaryFolder?
    /// Copies whose message is not in the outbox yet.
    private let pending = Locked<Set<String>>([])

    init(_ location: StoreLocation) throws {
        switch location {
        case .file(let directory):
            self.directory = directory.appendingPathComponent("outbox")
            temporary = nil
        case .memory:
            let temporary = TemporaryFolder()
            directory = temporary.url
            self.temporary = temporary
        }
    }

    func url(_ copy: String) -> URL { directory.appendingPathComponent(copy) }

    /// The number of copies whose message is not in the outbox yet.
    var pendingCount: Int { pending.withLock { $0.count } }

    /// Copies a file, or only names it if the server has it.
    func add(_ file: OutgoingFile) throws -> OutboxEntry.File {
        if case .stored(let attachment) = file.source {
            return OutboxEntry.File(
                id: attachment.id, name: attachment.name, contentType: attachment.contentType, size: attachment.size,
                copy: nil, isUploaded: true)
        }
        let id = AttachmentID.random()
        let target = url(id.rawValue)
        pending.withLock { _ = $0.insert(id.rawValue) }
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            switch file.source {
            case .file(let source): try FileManager.default.copyItem(at: source, to: target)
            case .data(let data): try data.write(to: target, options: .atomic)
            case .stored: break
            }
            let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? Int ?? 0
            return OutboxEntry.File(
                id: id, name: file.name, contentType: file.contentType, size: size, copy: id.rawValue)
        } catch {
            // A full disk leaves a part of the copy.
            remove(copy: id.rawValue)
            throw ParleyError.fileUnreadable(path: file.name, reason: error.localizedDescription, cause: error)
        }
    }

    func remove(_ files: [OutboxEntry.File]) {
        for copy in files.compactMap(\.copy) { remove(copy: copy) }
    }

    private func remove(copy: String) {
        try? FileManager.default.removeItem(at: url(copy))
        pending.withLock { _ = $0.remove(copy) }
    }

    /// The messages of these copies are in the outbox, or will never be.
    func settle(_ files: [OutboxEntry.File]) {
        pending.withLock { $0.subtract(files.compactMap(\.copy)) }
    }

    /// Removes copies that no message needs: the app may have ended between two steps. The copies are listed before `needed`
    /// is read, so one that is added meanwhile stays.
    func removeUnneeded(_ needed: () async throws -> Set<String>) async rethrows {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let kept = pending.withLock { $0 }.union(try await needed())
        for name in names where !kept.contains(name) { try? FileManager.default.removeItem(at: url(name)) }
    }
}

/// A folder that is removed, if it was created, when nobody refers to it any more.
private final class TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("parley-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }
}
