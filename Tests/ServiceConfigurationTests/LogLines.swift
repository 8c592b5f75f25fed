// The format of log lines.

import Domain
import Logging
import Synchronization
import Testing

@testable import ServiceConfiguration

@Suite("A log line", .timeLimit(.minutes(1)))
struct LogLines {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The lines that a logger of this format writes.
    private func lines(
        _ format: Settings.LogFormat, provider: Logger.MetadataProvider? = nil, _ body: (inout Logger) -> Void
    ) -> [String] {
        let lines = Lines()
        let handler = LineLogHandler(
            label: "parley.log", level: .info, format: format, metadataProvider: provider,
            now: { Timestamp(microsSince1970: 1_795_255_200_125_000) },
            write: { line in lines.all.withLock { $0.append(line) } })
        var logger = Logger(label: "parley.log", factory: { _ in handler })
        body(&logger)
        return lines.all.withLock { $0 }
    }

    @Test("is readable as text")
    func text() {
        let found = lines(.text) { $0.warning("The connection is gone.", metadata: ["host": "db", "attempt": "3"]) }
        #expect(found == ["2026-11-21T10:00:00.125Z warning parley.log: The connection is gone. attempt=3 host=db\n"])
    }

    @Test("quotes a value that contains spaces or quotes, or is empty")
    func quoting() {
        let found = lines(.text) { $0.info("x", metadata: ["a": "1 b=2", "c": "", "d": "say \"hi\""]) }
        #expect(found.first?.hasSuffix(": x a=\"1 b=2\" c=\"\" d=\"say \\\"hi\\\"\"\n") == true)
    }

    @Test("is one JSON object with nested metadata")
    func json() throws {
        let found = lines(.json) {
            $0.error(
                "Ünd \"so\"", metadata: ["list": ["a", .stringConvertible(2)], "empty": [:], "inner": ["k": "v\\"]])
        }
        #expect(
            found == [
                #"{"time":"2026-11-21T10:00:00.125Z","level":"error","logger":"parley.log","message":"Ünd \"so\"","#
                    + #""metadata":{"empty":{},"inner":{"k":"v\\"},"list":["a","2"]}}"# + "\n"
            ])
    }

    @Test("stays one line for any logged value", arguments: [Settings.LogFormat.text, .json])
    func oneLine(format: Settings.LogFormat) throws {
        let nasty = "a\n\r\n\u{0}\u{1b}[31m\u{85}\u{2028}b"
        let found = lines(format) { $0.info("\(nasty)", metadata: ["\(nasty)": "\(nasty)"]) }
        let line = try #require(found.first)
        #expect(line.hasSuffix("\n"))
        #expect(
            line.dropLast().unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\u{2028}" })
        // JSON has a short escape for a carriage return.
        let carriageReturn = format == .json ? #"\r"# : #"\u000d"#
        #expect(line.contains(#"a\n\#(carriageReturn)\n\u0000\u001b[31m\u0085\u2028b"#))
    }

    @Test("is omitted below the log level")
    func level() {
        let found = lines(.text) {
            $0.debug("no")
            $0.logLevel = .debug
            $0.debug("yes")
        }
        #expect(found.count == 1)
    }

    @Test("prefers metadata of the statement to the provider's, and the provider's to the logger's")
    func merging() {
        let found = lines(.text, provider: Logger.MetadataProvider { ["b": "provider", "c": "provider"] }) {
            $0[metadataKey: "a"] = "logger"
            $0[metadataKey: "b"] = "logger"
            $0.info("x", metadata: ["c": "statement"])
        }
        #expect(found.first?.hasSuffix("x a=logger b=provider c=statement\n") == true)
    }
}
