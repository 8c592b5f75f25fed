// What all screens have in common.
import Foundation
import Parley

/// One view of the program. A value: keys change it, and it draws itself. What it cannot do itself it asks for.
protocol Screen: Sendable {
    /// The text of the title bar.
    var title: String { get }
    /// The most important keys, for the last row.
    var hints: [Hint] { get }
    /// Whether letters are text, so that they cannot be commands of the program.
    var acceptsText: Bool { get }

    mutating func handle(_ key: Key, _ surroundings: Surroundings) -> [Action]

    /// Draws into some rows of the canvas. Scrolls so that what must be visible is, and asks for what is missing.
    mutating func draw(on canvas: inout Canvas, rows: Range<Int>, _ surroundings: Surroundings) -> [Action]
}

/// A key and what it does, in a word or two.
struct Hint: Hashable, Sendable {
    let key: String
    let effect: String

    init(_ key: String, _ effect: String) {
        self.key = key
        self.effect = effect
    }
}

/// What screens know about the world.
struct Surroundings: Sendable {
    var now = Date()
    var calendar = Calendar(identifier: .gregorian)
    /// It is nil while nobody is signed in.
    var me: UserID?
    var connection = Connection.connecting
    /// Signed links by attachment, as far as they have been asked for.
    var links: [AttachmentID: String] = [:]
}

/// Whether the client is in touch with the server.
enum Connection: Hashable, Sendable {
    case signedOut(reason: String?)
    case connecting
    case live
    /// Connected, and older changes are still coming.
    case behind
    case offline(until: Date?, reason: String)
}
