// An upload whose every byte, pause and end the test decides.

import Foundation
import TestSupport

/// A request whose head has been sent; its body follows piece by piece.
struct RawUpload: Sendable {
    enum Framing: Sendable {
        case length(Int)
        case chunked
    }

    /// How a client may go away in the middle of a body.
    enum Cut: CaseIterable, Sendable {
        /// FIN.
        case closed
        /// RST.
        case reset
        /// FIN of the sending side only; the client could still read an answer.
        case halfClosed
    }

    let connection: Connection
    private let framing: Framing

    /// Sends the head of a request.
    static func begin(
        _ path: String, method: String = "PUT", at address: Address, as person: Person, _ framing: Framing,
        _ headers: Headers = []
    ) async throws -> RawUpload {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: \(address.host):\(address.port)\r\n"
        head += "Authorization: Bearer \(person.token)\r\n"
        switch framing {
        case .length(let count): head += "Content-Length: \(count)\r\n"
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        }
        for header in headers { head += "\(header.name): \(header.value)\r\n" }
        let connection = Connection(address)
        try await connection.write(Data((head + "\r\n").utf8))
        return RawUpload(connection: connection, framing: framing)
    }

    /// `PATCH …/upload` that continues at `offset`.
    static func resume(
        _ id: String, at offset: Int, of total: Int, complete: Bool = true, on address: Address, as person: Person,
        chunked: Bool = false
    ) async throws -> RawUpload {
        try await begin(
            Attachments.path(id, "/upload"), method: "PATCH", at: address, as: person,
            chunked ? .chunked : .length(total - offset),
            [
                ("Content-Type", "application/partial-upload"), ("Upload-Offset", "\(offset)"),
                ("Upload-Complete", complete ? "?1" : "?0"),
            ])
    }

    /// Sends bytes of the body, in pieces. A piece begins `pause` after the one before was due, so that a slow machine does
    /// not make the upload slower.
    func send(
        _ bytes: Data, pieces byteCountMax: Int = 1 << 20, pause: Duration = .zero,
        within limit: Duration = .seconds(30)
    ) async throws {
        var rest = bytes[...]
        var due = ContinuousClock.now
        while !rest.isEmpty {
            let piece = Data(rest.prefix(byteCountMax))
            rest = rest.dropFirst(byteCountMax)
            switch framing {
            case .length: try await connection.write(piece, within: limit)
            case .chunked:
                let size = String(piece.count, radix: 16)
                try await connection.write(Data("\(size)\r\n".utf8) + piece + Data("\r\n".utf8), within: limit)
            }
            due += pause
            if pause > .zero { try await Task.sleep(until: due, clock: .continuous) }
        }
    }

    /// Ends the body and returns the answer.
    func finish(within limit: Duration = .seconds(30)) async throws -> Answer {
        if case .chunked = framing { try await connection.write(Data("0\r\n\r\n".utf8)) }
        return try await connection.receive(within: limit)
    }

    func end(by cut: Cut) async {
        switch cut {
        case .closed: await connection.close()
        case .reset: await connection.reset()
        case .halfClosed: await connection.endWriting()
        }
    }
}
