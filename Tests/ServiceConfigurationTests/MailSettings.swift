// Parses the settings of mail.
import CommandLineFlags
import ServiceConfiguration
import Testing

@Suite("Mail settings", .timeLimit(.minutes(1)))
struct MailSettings {
    @Test("parse a relay's URL: user, password, TLS, host and port")
    func servers() throws {
        let full = try #require(MailServer("smtp://ann%40a.example:s3%3Acret@relay.example:587"))
        #expect(full.user == "ann@a.example" && full.password == "s3:cret")
        #expect(full.host == "relay.example" && full.port == 587 && !full.isTLS && full.startTLS == .required)
        #expect(full.redacted == "smtp://ann%40a.example:***@relay.example:587")
        let tls = try #require(MailServer("SMTPS://relay.example/"))
        #expect(tls.isTLS && tls.port == 465 && tls.user == nil && tls.password == nil)
        #expect(MailServer("smtp://relay.example?starttls=off")?.startTLS == .off)
        #expect(MailServer("smtp://relay.example/?starttls=optional")?.startTLS == .optional)
        for local in ["smtp://127.0.0.1:25", "smtp://localhost", "smtp://[::1]:2525"] {
            #expect(MailServer(local)?.startTLS == .optional)
        }
        #expect(MailServer("smtp://localhost?starttls=required")?.startTLS == .required)
        #expect(MailServer("smtp://[2001:db8::1]")?.host == "2001:db8::1")
    }

    @Test(
        "refuse an invalid relay URL",
        arguments: [
            "", "relay.example", "http://relay.example", "smtp://", "smtp://:587", "smtp://a:b:c", "smtp://a:0",
            "smtp://a:65536",
            "smtp://a/b", "smtp://a?tls=1", "smtp://a?starttls=never", "smtps://a?starttls=off", "smtp://@a",
            "smtp://u:@a",
            "smtp://u%zz@a", "smtp://a b", "smtp://a\r\nb", "smtp://[::1", "smtp://ä.example",
        ])
    func badServers(_ text: String) { #expect(MailServer(text) == nil) }

    @Test("parse a sender with and without a name")
    func senders() {
        #expect(MailSender("chat@a.example")?.name == nil)
        let sender = MailSender("Ann's Chat <chat@bücher.example>")
        #expect(sender?.name == "Ann's Chat" && sender?.address.text == "chat@xn--bcher-kva.example")
        #expect(MailSender("<chat@a.example>")?.name == nil)
        for text in ["", "Ann", "Ann <>", "a@b.example, c@d.example", "Ann\nBcc: x <a@b.example>", "<<a@b.example>>"] {
            #expect(MailSender(text) == nil)
        }
    }

    @Test("require a sender with a relay, and never show a password")
    func together() throws {
        let url = "smtp://joe:s3cret@relay.example"
        let alone = #expect(throws: ConfigurationErrors.self) {
            try Settings.load(arguments: [], environment: ["PARLEY_SMTP_URL": url])
        }
        #expect(alone?.mistakes.count == 1 && alone?.description.contains("PARLEY_MAIL_FROM") == true)
        let settings = try Settings.load(
            arguments: [], environment: ["PARLEY_SMTP_URL": url, "PARLEY_MAIL_FROM": "a@b.example"])
        #expect(!"\(settings)".contains("s3cret") && "\(settings)".contains("smtp://joe:***@relay.example"))
    }
}
