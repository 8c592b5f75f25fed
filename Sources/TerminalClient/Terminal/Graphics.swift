// Pictures in terminals that know kitty's graphics protocol. Pure: bytes in, escape sequences out.
//
// The terminal decodes the picture, so only PNG can be shown: this program has no decoder, because decoders of strangers'
// pictures belong into a sandbox. Sixel needs pixels, so it is not used.
import Foundation

/// What the terminal can show, as far as it has answered.
struct Graphics: Hashable, Sendable {
    private(set) var isAvailable = false
    /// The size of a cell in pixels.
    private(set) var cell = Size(columns: 10, rows: 20)

    /// Asks for the protocol by a picture of one pixel that is not shown, and for the size of a cell. A terminal that knows
    /// neither does not answer.
    static let question = "\u{1b}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1b}\\\u{1b}[16t"

    /// Removes all pictures.
    static let removal = "\u{1b}_Ga=d,d=A,q=2\u{1b}\\"

    mutating func note(_ report: TerminalReport) {
        switch report {
        case .kittyGraphics: isAvailable = true
        case .cellSize(let width, let height):
            if (1...200).contains(width), (1...400).contains(height) { cell = Size(columns: width, rows: height) }
        }
    }

    static func isPNG(_ bytes: Data) -> Bool { bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) }

    /// The cells that a picture fills: as large as it is, or scaled down into the room, with its proportions.
    func fitted(width: Int, height: Int, into room: Size) -> Size {
        let (width, height) = (max(1, width), max(1, height))
        let scale = min(
            1, Double(room.columns * cell.columns) / Double(width), Double(room.rows * cell.rows) / Double(height))
        return Size(
            columns: max(1, min(room.columns, Int((Double(width) * scale / Double(cell.columns)).rounded()))),
            rows: max(1, min(room.rows, Int((Double(height) * scale / Double(cell.rows)).rounded()))))
    }

    /// The sequences that show a PNG at a place, in parts of 4,096 characters.
    static func show(png: Data, at place: Canvas.Place, size: Size) -> String {
        let text = Array(png.base64EncodedString().utf8)
        var output = "\u{1b}[\(place.row + 1);\(place.column + 1)H"
        var start = 0
        repeat {
            let end = min(text.count, start + 4_096)
            let isFirst = start == 0
            let keys = isFirst ? "a=T,f=100,q=2,C=1,c=\(size.columns),r=\(size.rows)," : ""
            let part = String(decoding: text[start..<end], as: UTF8.self)
            output += "\u{1b}_G\(keys)m=\(end < text.count ? 1 : 0);\(part)\u{1b}\\"
            start = end
        } while start < text.count
        return output
    }
}
