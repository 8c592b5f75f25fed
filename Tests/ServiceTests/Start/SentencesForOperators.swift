// What an operator reads when a command or a start fails by a problem that is worded for HTTP clients.
import Domain
import Testing

@testable import Service

@Suite("Sentences for operators", .timeLimit(.minutes(1)))
struct SentencesForOperators {
    @Test("name the database and never a header, a body or a status", arguments: [Problem.databaseUnavailable, .busy])
    func database(problem: Problem) {
        let sentence = problem.sentence(database: "the database at host=db")
        #expect(sentence.hasPrefix("the database at host=db is ") && sentence.hasSuffix("."))
        for word in ["Retry-After", "errors", "seconds"] { #expect(!sentence.contains(word)) }
    }

    @Test("name the field and the rule, and the fault of the database")
    func details() {
        #expect(Problem.invalid("name", "Must not be empty.").sentence() == "name: Must not be empty.")
        #expect(Problem(.unavailable, "Set the PARLEY_S3_… settings.").sentence() == "Set the PARLEY_S3_… settings.")
        #expect(Problem(.userNotFound, "There is no such user.").sentence() == "There is no such user.")
        #expect(
            Problem(.internalError, "The database failed with SQLSTATE 42883").sentence()
                == "the database can't be used: The database failed with SQLSTATE 42883")
    }
}
