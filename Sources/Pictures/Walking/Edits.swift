// The receiver of the bytes that a walk keeps.

/// Counts bytes in the first pass, and writes them in the second.
struct Edits: Sendable {
    private let isWriting: Bool
    var output: [UInt8] = []
    /// Bytes kept and inserted so far.
    private(set) var byteCount = 0
    /// Whether any byte was dropped or inserted.
    private(set) var isChanged = false

    init(isWriting: Bool) { self.isWriting = isWriting }

    mutating func keep(_ bytes: ArraySlice<UInt8>) {
        byteCount += bytes.count
        if isWriting { output.append(contentsOf: bytes) }
    }

    mutating func keep(_ bytes: [UInt8]) { keep(bytes[...]) }

    mutating func drop(_ count: Int) {
        if count > 0 { isChanged = true }
    }

    /// Writes `new` in the place of `old`.
    mutating func replace(_ old: [UInt8], with new: [UInt8]) {
        if old != new { isChanged = true }
        keep(new)
    }

    mutating func keepZeros(inPlaceOf bytes: ArraySlice<UInt8>) {
        if !isChanged && bytes.contains(where: { $0 != 0 }) { isChanged = true }
        byteCount += bytes.count
        if isWriting { output.append(contentsOf: repeatElement(0, count: bytes.count)) }
    }
}
