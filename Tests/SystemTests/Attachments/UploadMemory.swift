// How much memory transfers use: bounded, whatever the files' sizes.

import Foundation
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment
/// The size of the downloaded file. The long form (`make uploads`) sets 1024.
private let downloadMiB = environment["PARLEY_ATTACHMENT_DOWNLOAD_MIB"].flatMap { Int($0) } ?? 256

extension SystemTests {
    @Suite("Memory of uploads and downloads", .timeLimit(.minutes(8)))
    struct UploadMemory {
        /// The growth that transfers may cause.
        private static let growthMiBMax = 64

        /// A file of zeros on disk, which curl sends or compares. Costs no space.
        private func sparseFile(_ mebibytes: Int, in directory: TemporaryDirectory) throws -> String {
            let path = directory.path + "/file"
            try Data().write(to: URL(filePath: path))
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.truncate(atOffset: UInt64(mebibytes) << 20)
            try file.close()
            return path
        }

        /// Runs curl and returns what its `--write-out` prints.
        private func curl(_ arguments: [String], as person: Person, within limit: Duration) async throws -> String {
            let program = try await TestProcess.start(
                [
                    "/usr/bin/curl", "--disable", "--silent", "--show-error", "-H",
                    "Authorization: Bearer \(person.token)",
                ]
                    + arguments)
            let exit = try await program.waitForExit(within: limit)
            #expect(exit == .status(0), "\(program.errors)")
            return String(decoding: program.output, as: UTF8.self)
        }

        /// Runs `body` and returns the most memory that the node used meanwhile, less what it used before.
        private func growth(of node: Node, _ body: () async throws -> Void) async throws -> Int {
            let before = node.residentMemoryMiB
            let peak = Task {
                var peak = before
                while !Task.isCancelled {
                    peak = max(peak, node.residentMemoryMiB)
                    try? await Task.sleep(for: .milliseconds(20))
                }
                return peak
            }
            defer { peak.cancel() }
            try await body()
            peak.cancel()
            return await peak.value - before
        }

        @Test("ten uploads of 50 MB at once grow the node by less than 64 MB")
        func uploads() async throws {
            let node = try await Node.start(database: try await MigratedDatabase.create())
            let ann = try await node.client.register("Ann")
            let directory = try TemporaryDirectory()
            let path = try sparseFile(50, in: directory)
            let began = ContinuousClock.now
            let grown = try await growth(of: node) {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<10 {
                        group.addTask {
                            try await curl(
                                [
                                    "-T", path, "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect:",
                                    "\(node.address)\(Attachments.path(newID()))",
                                ], as: ann, within: .seconds(120))
                        }
                    }
                    for try await status in group { #expect(status == "201") }
                }
            }
            print("memory: ten uploads of 50 MiB: \(grown) MiB in \(began.duration(to: .now))")
            #expect(grown < Self.growthMiBMax, "\(grown) MiB")
            try await node.stop()
        }

        @Test("a large download grows the node by less than 64 MB, to a fast reader and to slow ones")
        func downloads() async throws {
            let settings = [
                "PARLEY_ATTACHMENT_BYTES_MAX": "\(2 << 30)", "PARLEY_ATTACHMENT_QUOTA_BYTES": "\(4 << 30)",
            ]
            let node = try await Node.start(
                database: try await MigratedDatabase.create(), settings: settings)
            let ann = try await node.client.register("Ann")
            let directory = try TemporaryDirectory()
            let path = try sparseFile(downloadMiB, in: directory)
            let id = newID()
            let url = "\(node.address)\(Attachments.path(id))"
            let uploadGrowth = try await growth(of: node) {
                let status = try await curl(
                    ["-T", path, "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect:", url], as: ann,
                    within: .seconds(300))
                #expect(status == "201")
                _ = try await node.client.ready(id, as: ann)
            }
            #expect(uploadGrowth < Self.growthMiBMax, "\(uploadGrowth) MiB")

            // Two slow readers have opened the file and read next to nothing.
            let slow = [Connection(node.address), Connection(node.address)]
            for reader in slow {
                var request = Request("GET", Attachments.path(id))
                request.headers = [("Authorization", "Bearer \(ann.token)")]
                try await reader.begin(request)
            }
            let began = ContinuousClock.now
            let grown = try await growth(of: node) {
                let written = try await curl(
                    ["-o", "/dev/null", "-w", "%{http_code} %{size_download}", url], as: ann, within: .seconds(300))
                #expect(written == "200 \(downloadMiB << 20)")
                let brake = min(downloadMiB << 20, 100 << 20)
                let part = try await curl(
                    [
                        "-o", "/dev/null", "-w", "%{http_code} %{size_download}", "--limit-rate", "20M", "-r",
                        "0-\(brake - 1)", url,
                    ], as: ann, within: .seconds(60))
                #expect(part == "206 \(brake)")
            }
            print("memory: a download of \(downloadMiB) MiB: \(grown) MiB in \(began.duration(to: .now))")
            #expect(grown < Self.growthMiBMax, "\(grown) MiB")
            for reader in slow { await reader.close() }
            try await node.stop()
        }
    }
}
