// Debian's curl, as readers of the README use it.

import Foundation
import TestSupport

/// Sends each request with a new curl process, on a new connection.
struct Curl: Caller {
    let address: Address

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func send(_ request: Request) async throws -> Answer {
        let directory = try TemporaryDirectory()
        // Keeps the directory until curl has read the body; a path alone does not.
        defer { withExtendedLifetime(directory) {} }
        var line = ["/usr/bin/curl", "--disable", "--silent", "--show-error", "--include", "--globoff", "--path-as-is"]
        // An empty Expect header, so that curl does not add its own.
        line += ["--max-time", "\(request.waitMax.seconds)", "--header", "Expect:"]
        line += request.method == "HEAD" ? ["--head"] : ["--request", request.method]
        for header in request.headers { line += ["--header", "\(header.name): \(header.value)"] }
        if let body = request.body {
            try body.write(to: URL(filePath: directory.path + "/body"))
            line += ["--data-binary", "@body"]
        }
        let program = try await TestProcess.start(line + [address.description + request.path], in: directory.path)
        let exit = try await program.waitForExit(within: request.waitMax + .seconds(5))
        guard exit == .status(0) else {
            throw Failure(description: "\(line.dropFirst().joined(separator: " ")): \(exit), \(program.errors)")
        }
        guard let answer = Self.parse(program.output) else {
            throw Failure(description: "no HTTP in \(String(decoding: program.output, as: UTF8.self))")
        }
        return answer
    }

    /// The command line to repeat the request in a shell.
    static func reproduction(_ request: Request, _ address: Address) -> String {
        func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
        var parts = ["curl -i -g --path-as-is -X \(request.method)"]
        parts += request.headers.map { "-H " + quoted("\($0.name): \($0.value)") }
        if let body = request.body {
            parts.append("--data-binary " + quoted(String(String(decoding: body, as: UTF8.self).prefix(300))))
        }
        return (parts + [quoted(address.description + request.path)]).joined(separator: " ")
    }

    private static func parse(_ output: Data) -> Answer? {
        guard let end = output.range(of: Data("\r\n\r\n".utf8)),
            let head = Answer.head(String(decoding: output[..<end.lowerBound], as: UTF8.self))
        else { return nil }
        return Answer(status: head.status, headers: head.headers, body: Data(output[end.upperBound...]))
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
