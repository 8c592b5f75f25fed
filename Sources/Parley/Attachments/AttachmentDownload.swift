// One download: at once into memory, or in parts into a file.
import Foundation

/// Gets one file or thumbnail.
///
/// A download into a file may be called again at any time, also by another process: it continues where it stopped. It does
/// not wait for a server that is down. It throws, and its caller tries again.
public struct AttachmentDownload: Sendable {
    /// The attachment.
    public let id: AttachmentID
    /// The file itself, or its thumbnail.
    public let variant: AttachmentVariant

    /// The largest part of a download into a file.
    static let partByteCountMax = 1 << 20

    /// Makes a download. It begins with `data` or `save`.
    public init(id: AttachmentID, variant: AttachmentVariant = .original) {
        self.id = id
        self.variant = variant
    }

    /// The whole file in memory.
    public func data(with caller: some Caller) async throws -> Data {
        switch try await caller.call(.attachments.file(id, variant: variant)) {
        case .part(let whole): return whole.bytes  // The server counts this as received.
        case .elsewhere(let address):
            let whole = try await caller.call(.attachments.file(at: address))
            try await confirm(with: caller)
            return whole.bytes
        }
    }

    /// Writes the file to `target`, whose folder must exist, and replaces what is there. Until the file is complete, its
    /// parts are in a second file in the same folder, whose name ends in `.part`.
    ///
    /// `progress` is called with the part that has arrived, 0 to 1. Throws `ParleyError.fileUnwritable`.
    public func save(
        to target: URL, with caller: some Caller, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws {
        let partial = PartialFile(target)
        var have = partial.read()
        var address: URL?
        while have.map({ $0.count < $0.size }) ?? true {
            try Task.checkCancellation()
            let part: FilePart
            do {
                part = try await self.part(after: have, &address, with: caller)
            } catch let error as ParleyError where error.code == .rangeNotSatisfiable && have != nil {
                try partial.remove()  // The file is another one, and shorter.
                have = nil
                continue
            }
            // The server sends the whole file if it is another one than before.
            if have == nil || have?.count != part.offset || have?.tag != part.tag || have?.size != part.size {
                guard part.offset == 0 else { throw ParleyError.unreadableAnswer("bytes of another file") }
                try partial.begin(tag: part.tag, size: part.size)
            }
            let count = part.offset + part.bytes.count
            guard !part.bytes.isEmpty || count == part.size else {
                throw ParleyError.unreadableAnswer("a part without bytes")
            }
            try partial.append(part.bytes)
            have = .init(tag: part.tag, size: part.size, count: count)
            progress(part.size == 0 ? 1 : Double(count) / Double(part.size))
        }
        try await confirm(with: caller)
        try partial.finish()
    }

    /// The bytes after those that are there, from the server or from where it has sent the client before.
    private func part(
        after have: PartialFile.Progress?, _ address: inout URL?, with caller: some Caller
    ) async throws -> FilePart {
        let start = have?.count ?? 0
        let bytes = start..<start + Self.partByteCountMax
        if let known = address {
            do {
                return try await caller.call(.attachments.file(at: known, bytes: bytes, tag: have?.tag))
            } catch let error as ParleyError where error.kind == .refused {
                address = nil  // The address has expired. The server names another one.
            }
        }
        do {
            switch try await caller.call(.attachments.file(id, variant: variant, bytes: bytes, tag: have?.tag)) {
            case .part(let part): return part
            case .elsewhere(let new):
                address = new
                return try await caller.call(.attachments.file(at: new, bytes: bytes, tag: have?.tag))
            }
        } catch let error as ParleyError where error.code == .rangeNotSatisfiable && have == nil {
            return FilePart(bytes: Data(), offset: 0, size: 0)  // An empty file has no range.
        }
    }

    /// Threads that keep messages until they are delivered wait for this call. It fails finally if the message is gone:
    /// the file is here all the same.
    private func confirm(with caller: some Caller) async throws {
        guard variant == .original else { return }
        do {
            try await caller.call(.attachments.received(id))
        } catch let error as ParleyError where error.code != nil && !error.isTemporary {}
    }
}
