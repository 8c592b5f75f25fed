// The address of the operator's policy.
import CommandLineFlags
import ServiceConfiguration
import Testing

@Suite("The settings of the policy", .timeLimit(.minutes(1)))
struct PolicySettings {
    private func settings(_ url: String) throws(ConfigurationErrors) -> Settings {
        try Settings.load(arguments: [], environment: ["PARLEY_POLICY_URL": url], for: .serve)
    }

    @Test(
        "accept any web address without a user",
        arguments: [
            "http://127.0.0.1:9000", "https://policy.example/", "http://[::1]:9000/a/b?key=c&d=e", "http://policy?k=v",
        ])
    func accepted(_ url: String) throws {
        #expect(try settings(url).policyURL == url)
    }

    @Test(
        "refuse what cannot be called",
        arguments: [
            "policy.example", "ftp://policy.example", "http://", "http://u:p@policy.example/", "http://a b/",
            "http://a/#b",
            "http://a/ü", "http://a:999999/",
        ])
    func refused(_ url: String) {
        #expect(throws: ConfigurationErrors.self) { try settings(url) }
    }

    @Test("never show what follows the question mark")
    func secrets() throws {
        let shown = try settings("https://policy.example/parley?key=hidden").effectiveDescription
        #expect(shown.contains("policy_url=https://policy.example/parley?***") && !shown.contains("hidden"))
    }

    @Test("must have an address for closed")
    func contradiction() {
        #expect(throws: ConfigurationErrors.self) {
            try Settings.load(arguments: ["--policy-fail", "closed"], environment: [:], for: .serve)
        }
    }
}
