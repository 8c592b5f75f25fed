// `parley import --from`: the samples of the converters, imported into a database.

import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("Importing from other systems", .timeLimit(.minutes(3)))
    struct ImportingFromOthers {
        private static func sample(_ system: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
                .appending(path: "ConvertersTests/Samples/\(system)").path
        }

        /// Of all systems into one database: what is taken there is left out, and reported.
        @Test("imports the export of each system once, with the reports of both steps")
        func samples() async throws {
            let settings = ["PARLEY_DATABASE_URL": try await TestCluster.shared().createDatabase()]
            #expect(try await Parley.run(["migrate"], settings: settings).exit == .status(0))
            for system in ["slack", "mattermost", "zulip", "rocketchat", "matrix"] {
                let words = [
                    "import", "--from", system, "--namespace", "test", "--room-suffix", " (\(system))",
                    Self.sample(system),
                ]
                let first = try await Parley.run(words, settings: settings, within: .seconds(60))
                #expect(first.exit == .status(0), "\(system): \(first.errors)")
                #expect(first.errors.contains("Converted from \(system)"), "\(first.errors)")
                let report = try JSON(parsing: Data(first.output.utf8))
                let written = try #require(report["conversion"]["written"]["message"].int)
                #expect(report["conversion"]["left_out"].items.count > 0)
                #expect(written > 0 && report["import"]["added"]["messages"].int == written, "\(first.output)")

                let second = try await Parley.run(words, settings: settings, within: .seconds(60))
                let again = try JSON(parsing: Data(second.output.utf8))["import"]
                #expect(again["added"]["messages"].int == 0 && again["existing"]["messages"].int == written)
            }
        }

        @Test("writes an archive with --convert-only, and names what is wrong")
        func conversion() async throws {
            let only = try await Parley.run(["import", "--from", "slack", "--convert-only", Self.sample("slack")])
            #expect(only.exit == .status(0), "\(only.errors)")
            #expect(only.output.hasPrefix(#"{"type":"archive""#) && only.output.contains(#"{"type":"end""#))
            let wrong = try await Parley.run(["import", "--from", "zulip", "--convert-only", Self.sample("matrix")])
            #expect(wrong.exit == .status(1) && wrong.errors.contains("the export can't be converted: "))
            #expect(try await Parley.run(["import", "--from", "irc", "x"]).exit == .status(2))
        }
    }
}
