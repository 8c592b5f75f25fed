// Which row of a list is selected, and which rows are visible. For every screen with a list.

struct ListCursor<ID: Hashable & Sendable>: Hashable, Sendable {
    private(set) var selected: ID?
    /// The index that `selected` had: where the cursor stays when its row disappears.
    private var index = 0
    /// The first visible row.
    private(set) var first = 0

    init() {}

    /// The index of the selected row; nil for an empty list.
    func index(in ids: [ID]) -> Int? {
        guard !ids.isEmpty else { return nil }
        return selected.flatMap { ids.firstIndex(of: $0) } ?? min(index, ids.count - 1)
    }

    mutating func select(_ index: Int, in ids: [ID]) {
        guard ids.indices.contains(index) else { return }
        selected = ids[index]
        self.index = index
    }

    /// Moves by the keys of lists. Returns false for other keys.
    mutating func handle(_ key: Key, ids: [ID], pageRows: Int) -> Bool {
        let now = index(in: ids) ?? 0
        let target: Int
        switch key {
        case .up, .character("k"), .control("p"): target = now - 1
        case .down, .character("j"), .control("n"): target = now + 1
        case .pageUp: target = now - max(1, pageRows - 1)
        case .pageDown: target = now + max(1, pageRows - 1)
        case .home, .character("g"): target = 0
        case .end, .character("G"): target = ids.count - 1
        default: return false
        }
        select(max(0, min(target, ids.count - 1)), in: ids)
        return true
    }

    /// Scrolls so that the selected row is visible, and returns the visible rows. A row that is new at the top is shown
    /// when the cursor is on the first row and has not been moved.
    mutating func visible(ids: [ID], rows: Int) -> Range<Int> {
        guard let index = index(in: ids), rows > 0 else { return 0..<0 }
        if selected != nil { self.index = index }
        first = max(0, min(first, ids.count - rows))
        if index < first { first = index }
        if index >= first + rows { first = index - rows + 1 }
        return first..<min(ids.count, first + rows)
    }
}
