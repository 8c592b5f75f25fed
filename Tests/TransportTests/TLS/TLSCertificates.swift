// Certificates and keys that can't be used, and the words about them.

import Foundation
import TestBasics
import Testing

@testable import Transport

@Suite("TLS certificates", .timeLimit(.minutes(1)))
struct TLSCertificates {
    private func failure(_ certificate: String, _ key: String, in directory: TemporaryDirectory) -> String {
        do {
            _ = try TLSIdentity(TLSGround.files(certificate, key, in: directory))
            return "accepted"
        } catch {
            return error.description.replacing(directory.path, with: "DIR")
        }
    }

    @Test("that can't be used are refused with the reason")
    func refused() async throws {
        let ground = try await TLSGround()
        let directory = ground.directory
        let curve = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        try await TLSGround.make("second", curve, in: directory)
        try await TLSGround.make("rsa", ["rsa:2048"], in: directory)
        try await TLSGround.make("weak", ["rsa:1024"], in: directory)
        try await TLSGround.openssl([
            "pkey", "-in", "\(directory.path)/first.key", "-aes256", "-passout", "pass:x", "-out",
            "\(directory.path)/locked.key",
        ])
        for name in ["nonsense.crt", "nonsense.key"] {
            try Data("nonsense".utf8).write(to: URL(filePath: "\(directory.path)/\(name)"))
        }
        try Data().write(to: URL(filePath: "\(directory.path)/empty.crt"))
        let mismatch = "The TLS key in DIR/second.key does not match the certificate in DIR/first.crt."
        #expect(failure("first", "second", in: directory) == mismatch)
        #expect(failure("first", "rsa", in: directory) == mismatch.replacing("second", with: "rsa"))
        #expect(
            failure("none", "first", in: directory)
                == "The TLS certificate file DIR/none.crt can't be read: No such file or directory.")
        #expect(
            failure("first", "none", in: directory)
                == "The TLS key file DIR/none.key can't be read: No such file or directory.")
        for name in ["nonsense", "empty"] {
            #expect(
                failure(name, "first", in: directory) == "The TLS certificate file DIR/\(name).crt is not a PEM file.")
        }
        for name in ["nonsense", "locked"] {
            #expect(failure("first", name, in: directory) == "The TLS key file DIR/\(name).key is not a PEM file.")
        }
        #expect(
            failure("weak", "weak", in: directory)
                == "The TLS certificate file DIR/weak.crt can't be used: ee key too small.")
        #expect(failure("first", "first", in: directory) == "accepted")
    }

    @Test("are sent with their issuers, also after the key of the tickets was renewed")
    func chain() async throws {
        let ground = try await TLSGround()
        let path = ground.directory.path
        try await TLSGround.openssl([
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=leaf",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "\(path)/leaf.key", "-out", "\(path)/leaf.csr",
        ])
        try await TLSGround.openssl([
            "x509", "-req", "-in", "\(path)/leaf.csr", "-CA", "\(path)/first.crt", "-CAkey", "\(path)/first.key",
            "-CAcreateserial", "-copy_extensions", "copy", "-days", "2", "-out", "\(path)/leaf.pem",
        ])
        let pair = try ["leaf.pem", "first.crt"].map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) }
        try pair.joined().write(toFile: "\(path)/leaf.crt", atomically: true, encoding: .utf8)
        let identity = try TLSIdentity(TLSGround.files("leaf", "leaf", in: ground.directory))
        try await withServer({ $0.tls = identity }, handler: echo) { server in
            for _ in 0..<2 {
                let shown = try await TLSGround.openssl(
                    [
                        "s_client", "-connect", "127.0.0.1:\(server.port)", "-showcerts", "-CAfile",
                        "\(path)/first.crt", "-verify_return_error", "-verify_ip", "127.0.0.1",
                    ])
                #expect(shown.split(separator: "BEGIN CERTIFICATE").count == 3, "\(shown)")
                #expect(shown.contains("Verify return code: 0 (ok)"))
                try identity.renewTicketKey()
            }
        }
    }
}
