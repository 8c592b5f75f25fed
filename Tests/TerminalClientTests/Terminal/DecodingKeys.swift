// Bytes of terminals and the keys they mean.
import TestBasics
import Testing

@testable import TerminalClient

@Suite("Decoding keys", .timeLimit(.minutes(1)))
struct DecodingKeys {
    private func keys(_ bytes: String, flushing: Bool = true) -> [Key] {
        var decoder = KeyDecoder()
        let inputs = decoder.feed(bytes.utf8) + (flushing ? decoder.flush() : [])
        return inputs.compactMap { if case .key(let key) = $0 { key } else { nil } }
    }

    @Test("reads characters of any length, and keeps a character with its marks together")
    func characters() {
        #expect(keys("aé漢👍") == ["a", "é", "漢", "👍"].map { .character($0) })
        #expect(keys("e\u{301}👩‍👩‍👧") == [.character("e\u{301}"), .character("👩‍👩‍👧")])
    }

    @Test(
        "reads keys as xterm, rxvt, tmux and the Linux console send them",
        arguments: [
            ("\u{1b}[A", Key.up), ("\u{1b}OA", .up), ("\u{1b}[B", .down), ("\u{1b}[D", .left), ("\u{1b}[C", .right),
            ("\u{1b}[H", .home), ("\u{1b}OH", .home), ("\u{1b}[1~", .home), ("\u{1b}[7~", .home), ("\u{1b}[4~", .end),
            ("\u{1b}[F", .end), ("\u{1b}[5~", .pageUp), ("\u{1b}[6~", .pageDown), ("\u{1b}[3~", .delete),
            ("\u{1b}[Z", .backTab), ("\t", .tab), ("\r", .enter), ("\n", .newline), ("\u{1b}\r", .newline),
            ("\u{1b}[1;5C", .wordRight), ("\u{1b}[1;3D", .wordLeft), ("\u{1b}b", .wordLeft), ("\u{1b}f", .wordRight),
            ("\u{17}", .deleteWordBackward), ("\u{1b}\u{7f}", .deleteWordBackward), ("\u{7f}", .backspace),
            ("\u{3}", .control("c")), ("\u{1a}", .control("z")), ("\u{1b}OP", .function(1)),
            ("\u{1b}[11~", .function(1)), ("\u{1b}[[A", .function(1)), ("\u{1b}[24~", .function(12)),
            ("\u{1b}x", .alt("x")), ("\u{1b}", .escape),
        ])
    func sequences(bytes: String, key: Key) {
        #expect(keys(bytes) == [key])
    }

    @Test("reads the same keys however the bytes are cut", arguments: 1...7)
    func cuts(byteCount: Int) {
        let text = "a\u{1b}[1;5C漢\u{1b}[200~x\u{1b}[A\r\ny\u{1b}[201~\u{1b}[5~\u{1b}OPz"
        var decoder = KeyDecoder()
        var cut: [TerminalInput] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            cut += decoder.feed(rest.prefix(byteCount))
            rest = rest.dropFirst(byteCount)
        }
        let paste = Key.paste("x\u{1b}[A\ny")
        let expected: [Key] = [
            .character("a"), .wordRight, .character("漢"), paste, .pageUp, .function(1), .character("z"),
        ]
        #expect(cut == expected.map { .key($0) })
    }

    @Test("waits for the rest of a sequence, and takes a lone Escape for the key when nothing follows")
    func escape() {
        var decoder = KeyDecoder()
        var inputs = decoder.feed([0x1b])
        #expect(inputs.isEmpty && decoder.isWaiting)
        inputs = decoder.flush()
        #expect(inputs == [.key(.escape)] && !decoder.isWaiting)
        inputs = decoder.feed([0x1b, 0x5b])
        #expect(inputs.isEmpty)
        inputs = decoder.feed([0x41])
        #expect(inputs == [.key(.up)])
    }

    @Test("keeps a paste whole, with its control characters, and cuts what is longer than a message")
    func paste() {
        #expect(keys("\u{1b}[200~a\rb\u{3}\u{1b}[201~") == [.paste("a\nb\u{3}")])
        let long = String(repeating: "x", count: KeyDecoder.pasteByteCountMax + 10)
        #expect(keys("\u{1b}[200~\(long)\u{1b}[201~!") == [.paste(String(long.dropLast(10))), .character("!")])
    }

    @Test("reads what a terminal says about itself")
    func reports() {
        var decoder = KeyDecoder()
        let answers = "\u{1b}_Gi=31;OK\u{1b}\\\u{1b}[?62;4;22c\u{1b}[6;18;9t"
        let inputs = decoder.feed(answers.utf8)
        #expect(
            inputs == [
                .report(.kittyGraphics), .report(.cellSize(width: 9, height: 18)),
            ])
    }

    @Test("ignores bytes that no terminal sends, and continues")
    func nonsense() {
        #expect(keys("\u{1b}[99~\u{1b}[?1049hq") == [.character("q")])
        var decoder = KeyDecoder()
        var inputs = decoder.feed([0xff, 0xc3, 0x28, 0xe6, 0xc2, 0x80, 0x71])
        #expect(inputs == ["(", "q"].map { .key(.character($0)) })
        var generator = SplitMix64(freshFor: "random keys")
        for _ in 0..<200 {
            _ = decoder.feed((0..<50).map { _ in UInt8.random(in: 0...255, using: &generator) })
            _ = decoder.flush()
        }
        // Random bytes may have begun a paste, an answer or a sequence; all end.
        _ = decoder.feed("\u{1b}[201~\u{7}".utf8)
        _ = decoder.flush()
        inputs = decoder.feed("q".utf8)
        #expect(inputs == [.key(.character("q"))])
    }
}
