// What `parley serve` says in a terminal once it listens: for the person who has just started it.

extension Settings {
    /// Lines below "parley is listening on …": the address to open, the place of the data, who may sign up.
    /// - Parameter port: the one that the node listens on.
    package func startNotice(port: Int) -> String {
        var lines: [String] = []
        if webClientEnabled { lines.append("Open \(publicURL ?? localURL(port: port)) in a browser.") }
        let data =
            databaseURL == nil
            ? "\(dataDirectory), with a PostgreSQL of its own" : "the database of PARLEY_DATABASE_URL"
        lines.append("Data: \(data).")
        let rule =
            switch registrationInUse {
            case .open: "everyone who reaches this address may create an account."
            case .invited: "people with an invitation may create an account (`parley admin invitation create`)."
            case .closed: "nobody; `parley admin user create` creates accounts, PARLEY_REGISTRATION changes the rule."
            }
        lines.append("Sign-up: " + rule)
        if let configurationFile { lines.append("Settings: \(configurationFile).") }
        return lines.map { "  " + $0 }.joined(separator: "\n")
    }

    /// The node's address for a client on the same machine.
    package func localURL(port: Int) -> String {
        let host =
            switch httpHost {
            case "0.0.0.0": "127.0.0.1"
            case "::": "[::1]"
            default: httpHost.contains(":") ? "[\(httpHost)]" : httpHost
            }
        return "http\(tlsCertificateFile == nil ? "" : "s")://\(host):\(port)"
    }
}
