// Pictures in terminals that can show them. Pure: bytes in, escape sequences out.
import Foundation

/// What the terminal can show, as far as it has answered.
struct Graphics: Sendable {
    private(set) var hasKitty = false
    private(set) var hasSixel = false
    /// In pixels.
    private(set) var cell = (width: 10, height: 20)

    /// Asks for kitty's graphics protocol, the size of a cell, and the device attributes, which every terminal answers.
    static let question = "\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[16t\u{1b}[c"

    var isAvailable: Bool { hasKitty || hasSixel }

    mutating func note(_ report: TerminalReport) {
        switch report {
        case .kittyGraphics: hasKitty = true
        case .attributes(let numbers): hasSixel = numbers.contains(4)
        case .cellSize(let width, let height):
            if (1...200).contains(width), (1...400).contains(height) { cell = (width, height) }
        }
    }
}
