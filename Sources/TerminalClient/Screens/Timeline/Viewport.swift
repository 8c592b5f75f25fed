// Which lines of a long list are visible. Pure arithmetic: the list says how many lines each entry has.

/// A window over entries of different heights. It sticks to the end until the user scrolls.
struct Viewport<ID: Hashable & Sendable>: Hashable, Sendable {
    /// The last visible line: an entry, and how many of its lines are below the window. Nil sticks to the end.
    private(set) var anchor: Anchor?

    struct Anchor: Hashable, Sendable {
        var id: ID
        var hidden: Int
    }

    /// A list at one moment.
    struct Content {
        let ids: [ID]
        let height: (Int) -> Int
    }

    var sticksToEnd: Bool { anchor == nil }

    mutating func showEnd() { anchor = nil }

    /// The index of the last visible entry, and how many of its lines are below; nil for an empty list.
    func bottom(_ content: Content) -> (index: Int, hidden: Int)? {
        guard let last = content.ids.indices.last else { return nil }
        guard let anchor, let index = content.ids.firstIndex(of: anchor.id) else { return (last, 0) }
        return (index, min(anchor.hidden, content.height(index) - 1))
    }

    /// Moves the window up by a positive number of lines, down by a negative one, as far as there are lines.
    mutating func scroll(up lines: Int, rows: Int, _ content: Content) {
        guard var (index, hidden) = bottom(content) else { return }
        hidden += lines
        while hidden >= content.height(index), index > 0 {
            hidden -= content.height(index)
            index -= 1
        }
        while hidden < 0, index + 1 < content.ids.count {
            index += 1
            hidden += content.height(index)
        }
        hidden = max(0, hidden)
        // The window stays full.
        let missing = rows - linesAbove(index, hidden, upTo: rows, content)
        if missing > 0 {
            hidden -= missing
            while hidden < 0, index + 1 < content.ids.count {
                index += 1
                hidden += content.height(index)
            }
            hidden = max(0, hidden)
        }
        set(index, hidden, content)
    }

    /// Shows this entry at the top of the window, or the end if that leaves room.
    mutating func showAtTop(_ top: Int, offset: Int = 0, rows: Int, _ content: Content) {
        var rest = rows - offset
        for index in top..<content.ids.count {
            let height = content.height(index)
            if height >= rest {
                set(index, height - rest, content)
                return
            }
            rest -= height
        }
        anchor = nil
    }

    /// Moves as little as possible so that the whole entry is visible.
    mutating func reveal(_ target: Int, rows: Int, _ content: Content) {
        guard content.ids.indices.contains(target), let (index, hidden) = bottom(content) else { return }
        if target > index || target == index && hidden > 0 {
            set(target, 0, content)
        } else {
            // The lines from the top of the entry to the bottom of the window.
            let lines = (target...index).reduce(0) { $0 + content.height($1) } - hidden
            if lines > rows { showAtTop(target, rows: rows, content) }
        }
    }

    private mutating func set(_ index: Int, _ hidden: Int, _ content: Content) {
        anchor = index == content.ids.count - 1 && hidden == 0 ? nil : Anchor(id: content.ids[index], hidden: hidden)
    }

    private func linesAbove(_ index: Int, _ hidden: Int, upTo limit: Int, _ content: Content) -> Int {
        var lines = content.height(index) - hidden
        var index = index
        while lines < limit, index > 0 {
            index -= 1
            lines += content.height(index)
        }
        return lines
    }
}
