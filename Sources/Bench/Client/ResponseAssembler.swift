// Assembles complete answers from the pieces that a socket returns.

/// An answer. Its bytes are valid until the function that received it returns.
package struct Answer {
    package let status: Int
    package let head: UnsafeRawBufferPointer
    package let body: UnsafeRawBufferPointer
    /// The server closes the connection after this answer.
    package let closes: Bool

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the first header of that name (in lower case).
    package func header(_ name: StaticString) -> String? {
        for line in head.split(separator: 0x0a) {
            if let value = UnsafeRawBufferPointer(rebasing: line).value(ofHeader: name) {
                return String(decoding: value, as: UTF8.self)
            }
        }
        return nil
    }
}

/// Assembles one answer after the other. An answer that arrives in one piece, as nearly all do, is not copied.
package struct ResponseAssembler {
    /// The head of a complete answer, and its bytes unless they are exactly those passed to `take`.
    package struct Whole {
        let head: ResponseHead
        let kept: [UInt8]?

        /// - Parameter taken: the bytes that were passed to `take`.
        package func withAnswer(_ taken: UnsafeRawBufferPointer, _ handle: (Answer) -> Void) {
            if let kept { kept.withUnsafeBytes { handle(answer($0)) } } else { handle(answer(taken)) }
        }

        private func answer(_ bytes: UnsafeRawBufferPointer) -> Answer {
            Answer(
                status: head.status, head: UnsafeRawBufferPointer(rebasing: bytes[..<head.byteCount]),
                body: UnsafeRawBufferPointer(rebasing: bytes[head.byteCount...]), closes: head.closes)
        }
    }

    private var kept: [UInt8] = []
    /// The head of the answer that `kept` begins, once it is known.
    private var head: ResponseHead?

    package init() {}

    package mutating func reset() {
        kept = []
        head = nil
    }

    /// Accepts bytes and returns the answer that they complete. Only one answer is expected at a time, so bytes after
    /// it are an error.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(BadResponse) -> Whole? {
        if kept.isEmpty {
            head = try ResponseHead.parse(bytes)
            if let head, bytes.count >= head.wholeByteCount {
                try Self.checkEnd(head, bytes.count)
                return Whole(head: head, kept: nil)
            }
            kept.reserveCapacity(head?.wholeByteCount ?? 0)
            kept.append(contentsOf: bytes)
            return nil
        }
        kept.append(contentsOf: bytes)
        if head == nil {
            let parsed = kept.withUnsafeBytes { bytes in
                Result { () throws(BadResponse) in try ResponseHead.parse(bytes) }
            }
            head = try parsed.get()
        }
        guard let head, kept.count >= head.wholeByteCount else { return nil }
        try Self.checkEnd(head, kept.count)
        defer { reset() }
        return Whole(head: head, kept: kept)
    }

    private static func checkEnd(_ head: ResponseHead, _ byteCount: Int) throws(BadResponse) {
        guard byteCount == head.wholeByteCount else { throw BadResponse(description: "bytes after the answer's end") }
    }
}
