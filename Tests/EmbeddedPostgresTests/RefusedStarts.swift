// Each reason why the embedded server cannot start is reported in one clear sentence, and no file changes.

import Foundation
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite("The embedded PostgreSQL refuses, in a sentence,", .timeLimit(.minutes(1)))
struct RefusedStarts {
    let temporary: TemporaryDirectory
    var directory: String { temporary.path + "/data" }

    init() throws { temporary = try TemporaryDirectory() }

    private func refusal(
        path: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> EmbeddedPostgresError {
        let error = await #expect(throws: EmbeddedPostgresError.self, sourceLocation: sourceLocation) {
            try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet, path: path)
        }
        let found = try #require(error)
        #expect(found.description.hasSuffix("."), sourceLocation: sourceLocation)
        #expect(!found.description.contains("\n"), sourceLocation: sourceLocation)
        return found
    }

    @Test("when PostgreSQL is not installed, and names the package")
    func missing() async throws {
        let error = try await refusal(path: "/nonexistent")
        #expect(error.reason == .binariesMissing)
        #expect(error.description.contains("apt install postgresql"))
    }

    @Test("when PostgreSQL is older than Parley's SQL")
    func tooOld() async throws {
        for program in ["postgres", "initdb"] {
            let file = temporary.path + "/" + program
            try Data("#!/bin/sh\necho 'postgres (PostgreSQL) 9.6.24'\n".utf8).write(to: URL(filePath: file))
            _ = chmod(file, 0o755)
        }
        let error = try await refusal(path: temporary.path)
        #expect(error.reason == .binariesMissing)
        #expect(error.description.contains("only 9 is installed"))
    }

    @Test("a cluster of another major version, untouched")
    func otherVersion() async throws {
        let cluster = directory + "/postgres"
        try FileManager.default.createDirectory(atPath: cluster, withIntermediateDirectories: true)
        try Data("9\n".utf8).write(to: URL(filePath: cluster + "/PG_VERSION"))
        let error = try await refusal()
        #expect(error.reason == .otherVersion)
        #expect(error.description.contains("made by PostgreSQL 9"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: cluster) == ["PG_VERSION"])
    }

    @Test("a directory of something else where the cluster belongs")
    func notACluster() async throws {
        let cluster = directory + "/postgres"
        try FileManager.default.createDirectory(atPath: cluster, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(filePath: cluster + "/diary.txt"))
        #expect(try await refusal().reason == .notACluster)
        #expect(try String(contentsOfFile: cluster + "/diary.txt", encoding: .utf8) == "mine")
    }

    @Test("a file in the directory's place")
    func file() async throws {
        try Data().write(to: URL(filePath: directory))
        let error = try await refusal()
        #expect(error.reason == .notWritable)
        #expect(error.description.contains("Not a directory"))
    }

    @Test("a directory it may not write", .enabled(if: geteuid() != 0))
    func unwritable() async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        _ = chmod(directory, 0o500)
        let error = try await refusal()
        #expect(error.reason == .notWritable)
        #expect(error.description.contains("Permission denied"))
    }

    @Test("as root, a directory that the server's user cannot reach", .enabled(if: geteuid() == 0))
    func unreachable() async throws {
        _ = chmod(temporary.path, 0o700)
        let error = try await refusal()
        #expect(error.reason == .notReachable)
        #expect(error.description.contains("may not enter \(temporary.path):"))
    }

    @Test("a server that does not start, with PostgreSQL's own message")
    func badSettings() async throws {
        let postgres = try await EmbeddedPostgres.start(dataDirectory: directory, logger: .quiet)
        await postgres.stop()
        let file = directory + "/postgres/local.conf"
        try Data("shared_buffers = 'a lot'\n".utf8).write(to: URL(filePath: file))
        _ = chmod(file, 0o644)
        let error = try await refusal()
        #expect(error.reason == .startFailed)
        #expect(error.description.contains("shared_buffers"))
    }
}
