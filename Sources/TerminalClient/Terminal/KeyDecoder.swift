// Bytes of a terminal to keys. Pure: the caller reads the bytes and knows the time.

/// Decodes the bytes that xterm, its relatives, tmux, screen and the Linux console send.
///
/// A lone Escape and the beginning of an escape sequence look the same. The decoder keeps such bytes until more arrive,
/// or until `flush` says that nothing more arrived in time.
struct KeyDecoder: Sendable {
    /// Longer pastes are cut: a message has at most 16 KiB.
    static let pasteByteCountMax = 65_536
    /// No sequence that is understood is longer.
    private static let sequenceByteCountMax = 256

    private var pending: [UInt8] = []
    /// The bytes of a paste that has begun.
    private var paste: [UInt8]?

    /// Whether bytes wait for their continuation, so that `flush` is due soon.
    var isWaiting: Bool { !pending.isEmpty && paste == nil }

    /// Returns what is complete.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
        pending.append(contentsOf: bytes)
        return decode(isFinal: false)
    }

    /// Decodes what waits as it is. Call it when nothing has followed for about 50 ms.
    mutating func flush() -> [TerminalInput] { paste == nil ? decode(isFinal: true) : [] }

    private mutating func decode(isFinal: Bool) -> [TerminalInput] {
        var inputs: [TerminalInput] = []
        var text = ""
        // Characters are cut from the whole run, so that a base and its marks stay together.
        func endText() {
            inputs += text.map { .key(.character($0)) }
            text = ""
        }
        while !pending.isEmpty {
            if paste != nil {
                guard let whole = continuePaste() else { break }
                endText()
                inputs.append(.key(.paste(whole)))
                continue
            }
            let step = Self.step(pending[...], isFinal: isFinal)
            guard let step else { break }
            pending.removeFirst(step.byteCount)
            switch step.outcome {
            case .text(let scalar): text.unicodeScalars.append(scalar)
            case .input(let input):
                endText()
                inputs.append(input)
            case .pasteBegins: paste = []
            case .nothing: break
            }
        }
        endText()
        return inputs
    }

    /// Moves bytes to the paste. Returns the text at its end; nil if the end has not arrived.
    private mutating func continuePaste() -> String? {
        let end = Array("\u{1b}[201~".utf8)
        var found: Int?
        if pending.count >= end.count {
            found = (0...(pending.count - end.count)).first { pending[$0...].starts(with: end) }
        }
        // The end may be cut between two reads.
        let taken = found ?? max(0, pending.count - end.count + 1)
        let room = Self.pasteByteCountMax - (paste?.count ?? 0)
        paste?.append(contentsOf: pending.prefix(min(taken, room)))
        pending.removeFirst(taken + (found == nil ? 0 : end.count))
        guard found != nil, let bytes = paste else { return nil }
        paste = nil
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

extension KeyDecoder {
    /// What the first bytes mean.
    private enum Outcome {
        case text(Unicode.Scalar)
        case input(TerminalInput)
        case pasteBegins
        /// A sequence without a meaning here.
        case nothing
    }

    private typealias Step = (outcome: Outcome, byteCount: Int)

    /// Decodes one key at the beginning; nil if it is not complete.
    private static func step(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        guard let first = bytes.first else { return nil }
        switch first {
        case 0x1b: return escape(bytes, isFinal: isFinal)
        case 0x0d: return (.input(.key(.enter)), 1)
        case 0x0a: return (.input(.key(.newline)), 1)
        case 0x09: return (.input(.key(.tab)), 1)
        case 0x08, 0x7f: return (.input(.key(.backspace)), 1)
        case 0x17: return (.input(.key(.deleteWordBackward)), 1)
        case 0x01...0x1a:
            return (.input(.key(.control(Character(Unicode.Scalar(first + 0x60))))), 1)
        case 0x00, 0x1c...0x1f: return (.nothing, 1)
        case 0x20...0x7e: return (.text(Unicode.Scalar(first)), 1)
        default: return scalar(bytes, isFinal: isFinal)
        }
    }

    /// One scalar of two to four bytes. Bytes that are not UTF-8, and the control characters of Latin-1, mean nothing.
    private static func scalar(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        let length =
            switch bytes[bytes.startIndex] {
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 1
            }
        let prefix = bytes.prefix(length)
        let continuations = prefix.dropFirst().prefix { $0 & 0xc0 == 0x80 }.count
        if continuations + 1 < length {
            return prefix.count < length && continuations + 1 == prefix.count && !isFinal
                ? nil : (.nothing, continuations + 1)
        }
        guard let text = String(validating: prefix, as: UTF8.self), let scalar = text.unicodeScalars.first,
            scalar.value >= 0xa0
        else { return (.nothing, length) }
        return (.text(scalar), length)
    }

    private static func escape(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        let rest = bytes.dropFirst()
        guard let second = rest.first else { return isFinal ? (.input(.key(.escape)), 1) : nil }
        switch second {
        case UInt8(ascii: "["): return control(bytes, isFinal: isFinal)
        case UInt8(ascii: "O"):
            guard let third = rest.dropFirst().first else { return isFinal ? (.input(.key(.alt("O"))), 2) : nil }
            return (key(final: third, modifier: 1).map { .input(.key($0)) } ?? .nothing, 3)
        // Answers of the terminal: APC, DCS, OSC. They end with ST or BEL.
        case UInt8(ascii: "_"), UInt8(ascii: "P"), UInt8(ascii: "]"):
            return string(bytes, isFinal: isFinal)
        case 0x1b: return (.input(.key(.escape)), 1)
        case 0x0d, 0x0a: return (.input(.key(.newline)), 2)
        case 0x7f, 0x08: return (.input(.key(.deleteWordBackward)), 2)
        case UInt8(ascii: "b"): return (.input(.key(.wordLeft)), 2)
        case UInt8(ascii: "f"): return (.input(.key(.wordRight)), 2)
        case 0x20...0x7e: return (.input(.key(.alt(Character(Unicode.Scalar(second))))), 2)
        default: return (.input(.key(.escape)), 1)
        }
    }

    /// `ESC [ parameters final`.
    private static func control(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        let body = bytes.dropFirst(2)
        // The Linux console's F1 to F5.
        if body.first == UInt8(ascii: "["), let letter = body.dropFirst().first {
            let isFunction = (UInt8(ascii: "A")...UInt8(ascii: "E")).contains(letter)
            return (isFunction ? .input(.key(.function(Int(letter) - 0x40))) : .nothing, 4)
        }
        guard let end = body.firstIndex(where: { (0x40...0x7e).contains($0) && $0 != UInt8(ascii: "[") }) else {
            return unfinished(bytes, isFinal: isFinal)
        }
        // A byte that no parameter has ends a sequence that was cut.
        if let odd = body[..<end].firstIndex(where: { !(0x20...0x3f).contains($0) }) {
            return (.nothing, odd - bytes.startIndex)
        }
        let text = String(decoding: body[..<end], as: UTF8.self)
        let byteCount = end - bytes.startIndex + 1
        let numbers = text.drop { !$0.isNumber }.split(separator: ";", omittingEmptySubsequences: false)
            .map { Int($0) ?? 0 }
        let final = bytes[end]
        switch final {
        case UInt8(ascii: "~") where numbers.first == 200: return (.pasteBegins, byteCount)
        case UInt8(ascii: "t") where numbers.count == 3 && numbers[0] == 6:
            return (.input(.report(.cellSize(width: numbers[2], height: numbers[1]))), byteCount)
        case UInt8(ascii: "~"):
            return (key(number: numbers.first ?? 0).map { .input(.key($0)) } ?? .nothing, byteCount)
        default:
            let modifier = numbers.count > 1 ? numbers[1] : 1
            return (key(final: final, modifier: modifier).map { .input(.key($0)) } ?? .nothing, byteCount)
        }
    }

    private static func unfinished(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        if bytes.count > sequenceByteCountMax { return (.nothing, bytes.count) }
        guard isFinal else { return nil }
        // Alt-[ or Escape, then text: nobody waits for more.
        return (.input(.key(.escape)), 1)
    }

    /// `ESC _ … ESC \`.
    private static func string(_ bytes: ArraySlice<UInt8>, isFinal: Bool) -> Step? {
        let body = bytes.dropFirst(2)
        guard let end = body.firstIndex(where: { $0 == 0x07 || $0 == 0x1b }),
            bytes[end] == 0x07 || end + 1 < bytes.endIndex
        else { return unfinished(bytes, isFinal: isFinal) }
        let byteCount = end - bytes.startIndex + (bytes[end] == 0x07 ? 1 : 2)
        let isGraphics = String(decoding: body[..<end], as: UTF8.self).wholeMatch(of: /Gi=\d+;OK/) != nil
        return (isGraphics ? .input(.report(.kittyGraphics)) : .nothing, byteCount)
    }

    /// - Parameter modifier: 1 plus 1 for Shift, 2 for Alt, 4 for Ctrl.
    private static func key(final: UInt8, modifier: Int) -> Key? {
        let isByWord = (modifier - 1) & 0b110 != 0
        switch final {
        case UInt8(ascii: "A"): return .up
        case UInt8(ascii: "B"): return .down
        case UInt8(ascii: "C"): return isByWord ? .wordRight : .right
        case UInt8(ascii: "D"): return isByWord ? .wordLeft : .left
        case UInt8(ascii: "H"): return .home
        case UInt8(ascii: "F"): return .end
        case UInt8(ascii: "M"): return .enter
        case UInt8(ascii: "Z"): return .backTab
        case UInt8(ascii: "P")...UInt8(ascii: "S"): return .function(Int(final) - 0x4f)
        default: return nil
        }
    }

    private static func key(number: Int) -> Key? {
        switch number {
        case 1, 7: .home
        case 4, 8: .end
        case 3: .delete
        case 5: .pageUp
        case 6: .pageDown
        case 11...15: .function(number - 10)
        case 17...21: .function(number - 11)
        case 23, 24: .function(number - 12)
        default: nil
        }
    }
}
