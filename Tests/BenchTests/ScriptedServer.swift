// A server for one client: answers each request with the next scripted bytes.
import Foundation
import TestSupport

/// Answers on its own thread until its scripts are over. A request is all bytes that arrive before a pause.
final class ScriptedServer: Sendable {
    enum Script: Sendable {
        /// Sends the bytes and leaves the connection open.
        case answer(String)
        /// Sends the bytes and closes the connection.
        case closing(String)
    }

    static let requestByteCountMax = 8_000_000
    let port: Int

    init(_ scripts: [Script]) throws {
        let (listener, port) = try Sockets.listener(backlog: 16)
        self.port = port
        Thread.detachNewThread {
            var connection: Int32 = -1
            for script in scripts {
                if connection < 0 { connection = accept(listener, nil, nil) }
                // A client that closed the last connection itself connects again.
                while !Self.readRequest(connection) {
                    close(connection)
                    connection = accept(listener, nil, nil)
                    if connection < 0 { return }
                }
                switch script {
                case .answer(let text): Self.write(text, connection)
                case .closing(let text):
                    Self.write(text, connection)
                    close(connection)
                    connection = -1
                }
            }
            if connection >= 0 {
                _ = Self.readRequest(connection)
                close(connection)
            }
            close(listener)
        }
    }

    /// Returns false at the connection's end.
    private static func readRequest(_ connection: Int32) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var total = 0
        while true {
            var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, total == 0 ? 10_000 : 50) <= 0 { return total > 0 }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            total += count
        }
    }

    private static func write(_ text: String, _ connection: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
