// Pictures by kitty's graphics protocol.
import Foundation
import Testing

@testable import TerminalClient

@Suite("Pictures", .timeLimit(.minutes(1)))
struct ShowingPictures {
    @Test("are sent in parts of at most 4,096 characters, at their place")
    func parts() {
        let png = Data(repeating: 7, count: 7_000)
        let output = Graphics.show(png: png, at: .init(column: 1, row: 2), size: Size(columns: 20, rows: 5))
        #expect(output.hasPrefix("\u{1b}[3;2H\u{1b}_Ga=T,f=100,q=2,C=1,c=20,r=5,m=1;"))
        let parts = output.matches(of: /\x1b_G[^;]*m=([01]);([A-Za-z0-9+\/=]*)\x1b\\/)
        #expect(parts.map { $0.1 } == ["1", "1", "0"] && parts.allSatisfy { $0.2.count <= 4_096 })
        #expect(Data(base64Encoded: parts.map { String($0.2) }.joined()) == png)
    }

    @Test("keep their proportions, and are not enlarged")
    func sizes() {
        var graphics = Graphics()
        #expect(!graphics.isAvailable)
        graphics.note(.kittyGraphics)
        graphics.note(.cellSize(width: 10, height: 20))
        #expect(graphics.isAvailable)
        #expect(
            graphics.fitted(width: 100, height: 100, into: Size(columns: 78, rows: 20)) == Size(columns: 10, rows: 5))
        #expect(
            graphics.fitted(width: 4_000, height: 2_000, into: Size(columns: 78, rows: 20))
                == Size(columns: 78, rows: 20))
        #expect(
            graphics.fitted(width: 1_000, height: 4_000, into: Size(columns: 78, rows: 20))
                == Size(columns: 10, rows: 20))
        #expect(graphics.fitted(width: 1, height: 1, into: Size(columns: 78, rows: 20)) == Size(columns: 1, rows: 1))
    }
}
