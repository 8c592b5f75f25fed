// The parts of an error that are shown, and those that must stay hidden.

import Testing

@testable import Postgres

@Suite("Errors", .timeLimit(.minutes(1)))
struct Errors {
    @Test("show code and constraint, never values, however they are printed")
    func redaction() {
        let error = ServerError(
            sqlState: "23505", message: "duplicate key value 'secret'", detail: "Key (x)=(secret)", hint: "secret",
            constraint: "users_name_key", position: nil)
        var dumped = ""
        dump(PostgresError.server(error), to: &dumped)
        for text in ["\(error)", String(reflecting: error), "\(PostgresError.server(error))", "\([error])", dumped] {
            #expect(!text.contains("secret"))
        }
        #expect("\(PostgresError.server(error))" == "database error 23505 (constraint users_name_key)")
    }

    @Test("of settings show where the database is, never the password")
    func settingsRedaction() {
        let url = PostgresSettings(conninfo: "postgres://me:hunter2@db.example:5433/chat", applicationName: "test")
        let words = PostgresSettings(conninfo: "host=h password=hunter2 dbname=chat", applicationName: "test")
        let broken = PostgresSettings(conninfo: "hunter2 hunter2", applicationName: "test")
        for settings in [url, words, broken] {
            var dumped = ""
            dump(settings, to: &dumped)
            for text in ["\(settings)", String(reflecting: settings), dumped] { #expect(!text.contains("hunter2")) }
        }
        #expect("\(url)".contains("host=db.example") && "\(url)".contains("dbname=chat"))
    }

    @Test(
        "state why connecting failed",
        arguments: [
            (
                "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running?",
                "connection refused", false
            ),
            (
                "connection to server on socket \"/x\" failed: FATAL:  3D000: database \"x\" does not exist\nLOCATION: x",
                "database \"x\" does not exist", true
            ),
            (
                "connection to server at \"h\" (::1), port 5432 failed: FATAL:  28P01: password authentication failed for "
                    + "user \"secret\"\n", "password authentication failed", true
            ),
            (
                "… failed: SCHWERWIEGEND:  57P03: das Datenbanksystem startet\n",
                "the database is starting up or shutting down (57P03)", false
            ),
            (
                "could not translate host name \"h\" to address: Name or service not known\n",
                "the host name could not be resolved", false
            ),
            ("invalid port number: \"secret\"\n", "invalid port number", false),
            (
                "connection to server at \"h\", port 1 failed: root certificate file \"r\" does not exist\nEither …",
                "root certificate file \"r\" does not exist", false
            ),
            ("", "no reason given", false),
        ])
    func connectFailures(text: String, reason: String, isRefusal: Bool) {
        let failure = ConnectFailure(libpqText: text)
        #expect(failure == ConnectFailure(reason: reason, isRefusal: isRefusal))
    }

    @Test("of the last of several hosts count")
    func lastHost() {
        let text = """
            connection to server at "a", port 1 failed: Connection refused
            connection to server at "b", port 1 failed: FATAL:  53300: sorry, too many clients already
            """
        #expect(ConnectFailure(libpqText: text).reason == "the server has too many connections (53300)")
    }
}
