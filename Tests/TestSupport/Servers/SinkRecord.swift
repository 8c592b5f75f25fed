// Reads what the push sinks have recorded so far, each line once.
import Foundation
import Synchronization

final class SinkRecord: Sendable {
    private struct State {
        var lines: [(summary: PushSinks.Line, data: Data)] = []
        /// Bytes of the file that were read, up to the end of the last line.
        var byteCount: UInt64 = 0
    }

    private let file: String
    private let state = Mutex(State())

    init(file: String) { self.file = file }

    /// All lines, in their order.
    func read() throws -> [PushSinks.Line] {
        try state.withLock { state in
            try readOn(&state)
            return state.lines.map(\.summary)
        }
    }

    func data(of index: Int) -> Data { state.withLock { $0.lines[index].data } }

    /// Decodes the lines that match.
    func lines<Value: Decodable>(_ isWanted: (PushSinks.Line) -> Bool) throws -> [Value] {
        try state.withLock { state in
            try readOn(&state)
            return try state.lines.filter { isWanted($0.summary) }.map {
                try JSONDecoder().decode(Value.self, from: $0.data)
            }
        }
    }

    private func readOn(_ state: inout State) throws {
        guard let handle = FileHandle(forReadingAtPath: file) else { return }
        defer { try? handle.close() }
        try handle.seek(toOffset: state.byteCount)
        guard let data = try handle.readToEnd(), let end = data.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in data[..<end].split(separator: UInt8(ascii: "\n")) {
            state.lines.append((try JSONDecoder().decode(PushSinks.Line.self, from: line), Data(line)))
        }
        state.byteCount += UInt64(end - data.startIndex + 1)
    }
}
