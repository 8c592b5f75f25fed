// The client of most tests: no state, so any number of its calls may be under way.

import Foundation

/// Sends each request on a new connection. A cancelled call ends at once.
struct Client: Caller {
    let address: Address

    func send(_ request: Request) async throws -> Answer {
        let connection = Connection(address)
        return try await withTaskCancellationHandler {
            try await connection.send(request)
        } onCancel: {
            connection.interrupt()
        }
    }

    /// The command line that repeats a request in a shell.
    static func reproduction(_ request: Request, _ address: Address) -> String {
        func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
        var parts = ["curl -i -g --path-as-is -X \(request.method)"]
        parts += request.headers.map { "-H " + quoted("\($0.name): \($0.value)") }
        if let body = request.body {
            parts.append("--data-binary " + quoted(String(String(decoding: body, as: UTF8.self).prefix(300))))
        }
        return (parts + [quoted(address.description + request.path)]).joined(separator: " ")
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
