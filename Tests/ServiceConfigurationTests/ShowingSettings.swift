// Prints settings without secrets.
import ServiceConfiguration
import Testing

@Suite("Showing settings", .timeLimit(.minutes(1)))
struct ShowingSettings {
    private func shown(_ databaseURL: String) throws -> String {
        let settings = try Settings.load(arguments: [], environment: ["PARLEY_DATABASE_URL": databaseURL])
        let description = settings.effectiveDescription
        #expect("\(settings)" == description)
        #expect(String(reflecting: settings) == description)
        let url = settings.effective.first { $0.key == "database_url" }
        return url?.value ?? ""
    }

    @Test(
        "hides passwords in connection strings and shows the rest",
        arguments: [
            ("postgresql://ann:s3cret@db:5432/chat", "postgresql://ann:***@db:5432/chat"),
            ("postgres://ann@db/chat?sslmode=require", "postgres://ann@db/chat?sslmode=require"),
            ("postgresql://db:5432/chat", "postgresql://db:5432/chat"),
            ("postgresql:///chat?host=/run/pg&password=s3cret", "postgresql:///chat?host=/run/pg&password=***"),
            ("postgresql:///chat?p%61ssword=s3cret&user=a", "postgresql:///chat?p%61ssword=***&user=a"),
            ("postgresql://db1:1,db2:2/chat?SSLPASSWORD=s3cret", "postgresql://db1:1,db2:2/chat?SSLPASSWORD=***"),
            ("host=db password=s3cret user=ann", "host=db password=*** user=ann"),
            ("host = db  password = 's3cret \\' x' user=ann", "host=db password=*** user=ann"),
            ("application_name='a b' password=s3\\ cret", "application_name='a b' password=***"),
        ])
    func passwords(given: String, expected: String) throws {
        #expect(try shown(given) == expected)
    }

    @Test(
        "hides the whole string if the password cannot be located",
        arguments: [
            "postgresql://ann:s3@cret@db/chat", "postgresql://ann:s3/cret@db/chat", "postgresql://ann:s3?cret@db",
            "password='s3cret", "password=s3cret\\", "host=db s3cret", "s3 cret=db",
        ])
    func unclear(given: String) throws {
        let text = try shown(given)
        #expect(!text.contains("cret"))
        #expect(text.hasSuffix("***"))
    }

    @Test("lists the values in effect in the table's order, without unset settings")
    func effective() throws {
        let settings = try Settings.load(
            arguments: ["--http-port=81"], environment: ["PARLEY_ADMIN_TOKEN": "s3cret-and-so-long"])
        #expect(settings.effectiveDescription.hasPrefix("http_host=127.0.0.1 http_port=81 web=on connections_max="))
        #expect(!settings.effectiveDescription.contains("database_url"))
        #expect(!settings.effectiveDescription.contains("s3cret"))
        #expect(settings.changedMetadata == ["http_port": "81", "admin_token": "***"])
        #expect(Settings().changedMetadata.isEmpty)
    }
}
