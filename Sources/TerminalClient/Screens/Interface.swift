// All that the terminal shows, as one value: a stack of screens, the title bar, the offline banner and the last row.
import Foundation
import Parley

/// Names a screen on the stack, as long as it is there.
typealias ScreenID = Int

struct Interface: Sendable {
    var size = Size(columns: 80, rows: 24)
    var surroundings = Surroundings()
    /// The user's name; nil while nobody is signed in.
    var accountName: String?
    var unreadTotal = 0
    private(set) var notice: Notice?
    private(set) var stack: [(id: ScreenID, screen: any Screen)] = []
    private var lastID = 0

    /// A smaller terminal shows only a sentence.
    static let smallest = Size(columns: 40, rows: 10)

    var top: (id: ScreenID, screen: any Screen)? { stack.last }

    // MARK: The stack

    /// Puts a screen on top and returns its name.
    @discardableResult
    mutating func push(_ screen: any Screen) -> ScreenID {
        lastID += 1
        stack.append((lastID, screen))
        return lastID
    }

    /// Removes a screen and all above it. Returns the names of those that are gone.
    @discardableResult
    mutating func pop(_ id: ScreenID) -> [ScreenID] {
        guard let index = stack.firstIndex(where: { $0.id == id }) else { return [] }
        let gone = stack[index...].map(\.id)
        stack.removeSubrange(index...)
        return gone
    }

    /// Removes all screens above the first.
    @discardableResult
    mutating func popToFirst() -> [ScreenID] { stack.count > 1 ? pop(stack[1].id) : [] }

    /// Changes a screen if it is still there.
    mutating func update<Kind: Screen>(_ id: ScreenID, as _: Kind.Type, _ body: (inout Kind) -> Void) {
        guard let index = stack.firstIndex(where: { $0.id == id }), var screen = stack[index].screen as? Kind else {
            return
        }
        body(&screen)
        stack[index].screen = screen
    }

    /// Changes all screens of a kind.
    mutating func updateAll<Kind: Screen>(_ kind: Kind.Type, _ body: (inout Kind) -> Void) {
        for (id, _) in stack { update(id, as: kind, body) }
    }

    mutating func show(_ notice: Notice?) { self.notice = notice }

    // MARK: Keys

    /// Returns what has to be done, in this order.
    mutating func handle(_ key: Key) -> [Action] {
        notice = nil
        switch key {
        case .control("c"): return [.quit]
        case .control("z"): return [.suspend]
        case .control("l"): return [.redraw]
        default: break
        }
        guard var screen = stack.last?.screen else { return [] }
        let asksForHelp = key == .function(1) || key == .character("?") && !screen.acceptsText
        if asksForHelp, !(screen is HelpScreen) { return [.show(.help)] }
        let actions = screen.handle(key, surroundings)
        stack[stack.count - 1].screen = screen
        return actions
    }

    // MARK: Drawing

    /// Draws everything, and returns what the screen on top lacks.
    mutating func draw() -> (canvas: Canvas, wanted: [Action]) {
        var canvas = Canvas(size)
        guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
            canvas.write("The terminal is too small.", column: 0, row: 0)
            return (canvas, [])
        }
        guard var screen = stack.last?.screen else { return (canvas, []) }
        var firstRow = 1
        if let banner {
            canvas.fill(row: 1, style: Style(foreground: .yellow, isReversed: true))
            canvas.write(
                banner.cut(to: size.columns - 2), column: 1, row: 1, style: Style(foreground: .yellow, isReversed: true)
            )
            firstRow = 2
        }
        let wanted = screen.draw(on: &canvas, rows: firstRow..<size.rows - 1, surroundings)
        stack[stack.count - 1].screen = screen
        drawTitle(screen.title, on: &canvas)
        drawLastRow(screen.hints, on: &canvas)
        return (canvas, wanted)
    }

    private func drawTitle(_ title: String, on canvas: inout Canvas) {
        canvas.fill(row: 0, style: .reversed)
        let state = connectionText
        let account = accountName.map { PlainText.line($0).cut(to: 20) + "  " } ?? ""
        let unread = unreadTotal > 0 ? "\(unreadTotal) unread  " : ""
        let right = unread + account + state
        let start = size.columns - right.displayWidth - 1
        canvas.write(" \(title)", column: 0, row: 0, style: Style(isBold: true, isReversed: true), limit: start - 1)
        canvas.write(right, column: start, row: 0, style: .reversed)
    }

    private var connectionText: String {
        switch surroundings.connection {
        case .signedOut: "signed out"
        case .connecting: "connecting"
        case .live: "online"
        case .behind: "loading"
        case .offline: "offline"
        }
    }

    /// It is nil while the server can be reached.
    private var banner: String? {
        guard case .offline(let until, let reason) = surroundings.connection else { return nil }
        let wait = until.map { max(0, Int($0.timeIntervalSince(surroundings.now).rounded(.up))) }
        let next = wait.map { $0 > 0 ? "Next try in \($0) s." : "Trying again now." } ?? "Waiting for the network."
        return "Offline. \(next) What you send waits in the outbox. (\(PlainText.line(reason)))"
    }

    private func drawLastRow(_ hints: [Hint], on canvas: inout Canvas) {
        let row = size.rows - 1
        if let notice {
            let style = notice.isError ? Style(foreground: .red, isBold: true) : .bold
            canvas.write(PlainText.line(notice.text).cut(to: size.columns - 2), column: 1, row: row, style: style)
            return
        }
        var column = 1
        for hint in hints {
            let width = hint.key.displayWidth + 1 + hint.effect.displayWidth
            guard column + width < size.columns else { break }
            let end = canvas.write(hint.key, column: column, row: row, style: .bold)
            column = canvas.write(hint.effect, column: end + 1, row: row, style: .dim) + 2
        }
    }
}
