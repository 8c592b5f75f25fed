// How a cell looks.

/// Colours are the terminal's own palette, so that the program looks as its user has chosen.
enum Colour: Hashable, Sendable {
    case standard
    /// 0 to 7 are black, red, green, yellow, blue, magenta, cyan and white; 8 to 15 are the same, brighter.
    case palette(UInt8)
    case rgb(UInt8, UInt8, UInt8)

    static let red = palette(1)
    static let green = palette(2)
    static let yellow = palette(3)
    static let blue = palette(4)
    static let magenta = palette(5)
    static let cyan = palette(6)
}

struct Style: Hashable, Sendable {
    var foreground = Colour.standard
    var background = Colour.standard
    var isBold = false
    var isDim = false
    var isItalic = false
    var isUnderlined = false
    var isReversed = false
    /// The target of a hyperlink (OSC 8). `PlainText.link` has checked it.
    var link: String?

    static let plain = Style()
    static let bold = Style(isBold: true)
    static let dim = Style(isDim: true)
    static let italic = Style(isItalic: true)
    static let reversed = Style(isReversed: true)
    static let warning = Style(foreground: .yellow)
    static let failure = Style(foreground: .red)

    static func colour(_ colour: Colour, isBold: Bool = false) -> Style { Style(foreground: colour, isBold: isBold) }

    /// The same, on the row of the cursor of a list.
    func selected(_ isSelected: Bool) -> Style {
        guard isSelected else { return self }
        var style = self
        style.isReversed = true
        style.isDim = false
        return style
    }

    /// The escape sequence that sets this look, whatever was set before, without the link.
    /// - Parameter isMonochrome: leaves colours out (`NO_COLOR`).
    func sequence(isMonochrome: Bool) -> String {
        var codes = ["0"]
        if isBold { codes.append("1") }
        if isDim { codes.append("2") }
        if isItalic { codes.append("3") }
        if isUnderlined { codes.append("4") }
        if isReversed { codes.append("7") }
        if !isMonochrome {
            codes += Self.codes(of: foreground, base: 30)
            codes += Self.codes(of: background, base: 40)
        }
        return "\u{1b}[\(codes.joined(separator: ";"))m"
    }

    private static func codes(of colour: Colour, base: Int) -> [String] {
        switch colour {
        case .standard: []
        case .palette(let index) where index < 8: ["\(base + Int(index))"]
        case .palette(let index) where index < 16: ["\(base + 52 + Int(index))"]
        case .palette(let index): ["\(base + 8)", "5", "\(index)"]
        case .rgb(let red, let green, let blue): ["\(base + 8)", "2", "\(red)", "\(green)", "\(blue)"]
        }
    }
}
