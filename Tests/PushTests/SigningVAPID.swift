// Which origin a token is for.
import Testing

@testable import Push

@Suite("Signing for push services")
struct SigningVAPID {
    @Test(
        "names the origin without path, case and usual port",
        arguments: [
            ("https://push.example/a/b?c", "https://push.example"),
            ("https://Push.Example:443/a", "https://push.example"),
            ("https://push.example:8443", "https://push.example:8443"), ("http://127.0.0.1:80/x", "http://127.0.0.1"),
            ("https://[::1]:8443/x#y", "https://[::1]:8443"), ("HTTPS://push.example?x", "https://push.example"),
        ])
    func names(_ url: String, _ origin: String) { #expect(Origin(url: url)?.text == origin) }

    @Test(
        "has no origin of what is no address of a server", arguments: ["", "https://", "ftp://a", "https://a@b/", "/x"])
    func refuses(_ url: String) { #expect(Origin(url: url) == nil) }
}
