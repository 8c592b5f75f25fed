// Self-signed test certificates, made by Debian's openssl.

import Foundation
import TestSupport
import Testing

/// A directory with pairs of certificate and key, all for 127.0.0.1.
struct Certificates: Sendable {
    private let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path
    }

    /// Makes `name.crt` and `name.key`.
    func make(_ name: String) throws {
        try Tool.makeCertificate("\(path)/\(name).crt", key: "\(path)/\(name).key", name: name)
    }

    /// Replaces one file by another, as a tool that renews certificates does.
    func replace(_ name: String, by other: String) throws {
        try contents(other).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
    }

    /// Replaces the pair named `now` by this pair.
    func use(_ name: String) throws {
        try replace("now.crt", by: name + ".crt")
        try replace("now.key", by: name + ".key")
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"), options: .atomic)
    }

    private func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }
}
