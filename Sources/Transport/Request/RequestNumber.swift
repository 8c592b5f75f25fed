// Identifies a request: in the answer's X-Request-Id, in the log, and in the problem document of an internal error.

import NIOCore

/// Counted from a random start by each event loop, so that numbers of several loops and nodes hardly ever collide.
package struct RequestNumber: Hashable, Sendable {
    let value: UInt64

    static func random() -> RequestNumber { RequestNumber(value: .random(in: .min ... .max)) }

    var next: RequestNumber { RequestNumber(value: value &+ 1) }

    /// 16 hexadecimal digits.
    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension ByteBuffer {
    /// Writes the whole header line. Returns the index of the number in it.
    mutating func writeRequestNumber(_ number: RequestNumber) -> Int {
        writeStaticString("X-Request-Id: ")
        let index = writerIndex
        moveWriterIndex(forwardBy: setRequestNumber(number, at: index))
        writeStaticString("\r\n")
        return index
    }

    /// Writes 16 digits. By hand and on the stack, because every answer has them.
    @discardableResult
    mutating func setRequestNumber(_ number: RequestNumber, at index: Int) -> Int {
        let high = setInteger(Self.hexadecimal(UInt32(truncatingIfNeeded: number.value >> 32)), at: index)
        return high + setInteger(Self.hexadecimal(UInt32(truncatingIfNeeded: number.value)), at: index + high)
    }

    /// Eight digits in reading order: the first is in the highest byte.
    private static func hexadecimal(_ value: UInt32) -> UInt64 {
        var digits: UInt64 = 0
        for shift in stride(from: UInt32(28), through: 0, by: -4) {
            let nibble = UInt64(value >> shift & 0xf)
            digits = digits << 8 | (nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
        }
        return digits
    }
}
