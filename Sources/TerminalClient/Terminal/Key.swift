// What arrives from a terminal, after decoding.

/// A key. Modifiers are part of the case where a screen needs them.
enum Key: Hashable, Sendable {
    /// A printable character.
    case character(Character)
    case enter
    /// Alt-Enter or Ctrl-J: a line break inside a text.
    case newline
    case tab
    case backTab
    case escape
    case backspace
    case delete
    case up, down, left, right
    case home, end
    case pageUp, pageDown
    case wordLeft, wordRight
    case deleteWordBackward
    /// Ctrl with a letter: `control("c")`.
    case control(Character)
    case alt(Character)
    /// F1 is `function(1)`.
    case function(Int)
    /// A pasted text, with the line breaks as `\n`.
    case paste(String)
}

/// An answer of the terminal to a question of the program.
enum TerminalReport: Hashable, Sendable {
    /// The kitty graphics protocol is understood.
    case kittyGraphics
    /// The size of a cell in pixels.
    case cellSize(width: Int, height: Int)
}

/// Everything that a terminal sends.
enum TerminalInput: Hashable, Sendable {
    case key(Key)
    case report(TerminalReport)
}
