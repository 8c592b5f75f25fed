// Canvases, and the bytes that bring them to a terminal.
import TestBasics
import Testing

@testable import TerminalClient

@Suite("Drawing", .timeLimit(.minutes(1)))
struct DrawingFrames {
    private func canvas(_ lines: String...) -> Canvas {
        var canvas = Canvas(Size(columns: 10, rows: 3))
        for (row, line) in lines.enumerated() { canvas.write(line, column: 0, row: row) }
        return canvas
    }

    @Test("cuts text at the edge, and never leaves half of a wide character")
    func edges() {
        var canvas = canvas("123456789漢")
        #expect(canvas.lines[0] == "123456789")
        canvas.write("漢漢", column: 0, row: 1)
        canvas.write("x", column: 1, row: 1)
        #expect(canvas.lines[1] == " x漢")
        canvas.write("漢", column: 1, row: 1)
        #expect(canvas.lines[1] == " 漢")
        canvas.write("outside", column: 0, row: 7)
        let end = canvas.write("ab", column: -1, row: 2)
        #expect(end == 1)
        #expect(canvas.lines[2] == "b")
    }

    @Test("leaves out characters that have no width of their own")
    func controls() {
        #expect(canvas("a\u{1b}[31mb\u{202e}\n").lines[0] == "a[31mb")
    }

    @Test("writes only the cells that changed")
    func differences() {
        var writer = FrameWriter()
        var frame = writer.frame(canvas("hello", "world"))
        #expect(frame.contains("\u{1b}[2J"))
        frame = writer.frame(canvas("hello", "world"))
        #expect(frame == "")
        frame = writer.frame(canvas("hello", "words"))
        #expect(
            frame.contains("\u{1b}[2;4H") && frame.contains("ds") && !frame.contains("hello") && !frame.contains("wor"))
        writer.forget()
        frame = writer.frame(canvas("hello", "words"))
        #expect(frame.contains("hello"))
    }

    @Test("makes room for characters whose width terminals disagree about, and sets the cursor's place after them")
    func places() {
        var writer = FrameWriter()
        _ = writer.frame(canvas(""))
        let frame = writer.frame(canvas("👩‍👩‍👧b"))
        #expect(frame.contains("\u{1b}[1;1H\u{1b}[0m  \u{1b}[1;1H👩‍👩‍👧\u{1b}[1;3Hb"))
    }

    @Test("ends a hyperlink where its text ends")
    func links() {
        var writer = FrameWriter()
        var canvas = canvas("")
        let end = canvas.write("file", column: 0, row: 0, style: Style(link: "https://127.0.0.1/f"))
        canvas.write(" x", column: end, row: 0)
        let frame = writer.frame(canvas)
        #expect(frame.contains("\u{1b}]8;;https://127.0.0.1/f\u{1b}\\\u{1b}[0mfile\u{1b}]8;;\u{1b}\\ x"))
    }

    @Test("leaves colours out when the user wants none")
    func monochrome() {
        var canvas = canvas("")
        canvas.write("red", column: 0, row: 0, style: .colour(.red, isBold: true))
        var (plain, coloured) = (FrameWriter(isMonochrome: true), FrameWriter())
        let frames = (plain.frame(canvas), coloured.frame(canvas))
        #expect(frames.0.contains("\u{1b}[0;1mred") && frames.1.contains("\u{1b}[0;1;31mred"))
    }

    @Test("a terminal that follows the frames shows the canvas, whatever was there before")
    func replay() {
        var generator = SplitMix64(freshFor: "random frames")
        var writer = FrameWriter()
        var screen = ReplayedScreen(Size(columns: 10, rows: 3))
        for _ in 0..<300 {
            var canvas = Canvas(Size(columns: 10, rows: 3))
            for row in 0..<3 {
                let text = (0..<Int.random(in: 0...10, using: &generator)).map { _ in
                    "ab 漢é👍".randomElement(using: &generator) ?? "x"
                }
                canvas.write(String(text), column: Int.random(in: 0...3, using: &generator), row: row)
            }
            screen.obey(writer.frame(canvas))
            #expect(screen.lines == canvas.lines)
        }
    }
}

/// The part of a terminal that frames need.
private struct ReplayedScreen {
    private var rows: [[Character?]]
    private var (row, column) = (0, 0)

    init(_ size: Size) { rows = Array(repeating: Array(repeating: " ", count: size.columns), count: size.rows) }

    var lines: [String] {
        rows.map { row in
            String(String(row.compactMap { $0 }).reversed().drop { $0 == " " }.reversed())
        }
    }

    mutating func obey(_ frame: String) {
        var rest = frame[...]
        while let character = rest.popFirst() {
            guard character == "\u{1b}" else {
                rows[row][column] = character
                if character.displayWidth == 2 { rows[row][column + 1] = nil }
                column += character.displayWidth
                continue
            }
            let sequence = rest.prefix { !$0.isLetter }
            let final = rest[sequence.endIndex]
            rest = rest[sequence.endIndex...].dropFirst()
            switch final {
            case "H":
                let numbers = sequence.dropFirst().split(separator: ";").compactMap { Int($0) }
                (row, column) = (numbers[0] - 1, numbers[1] - 1)
            case "J": rows = rows.map { $0.map { _ in " " } }
            default: break
            }
        }
    }
}
