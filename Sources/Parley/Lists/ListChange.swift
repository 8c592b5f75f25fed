// How a list tells what changed: a snapshot first, then edits.

/// What an app does to its copy of a list. Edits of one change apply one after the other.
public enum ListChange<Row: Sendable>: Sendable {
    /// The whole list. The first change is a snapshot.
    case snapshot([Row])
    /// What changed since the last change.
    case diff([ListEdit<Row>])
}

/// One edit. Positions count in the list as the edits before it left it.
public enum ListEdit<Row: Sendable>: Sendable {
    /// A new row is at this position.
    case insert(Row, at: Int)
    /// The row at this position has changed, and keeps its id.
    case update(Row, at: Int)
    /// The row moves. `to` counts without it.
    case move(from: Int, to: Int)
    /// The row at this position is gone.
    case remove(at: Int)
}

extension ListChange: Equatable where Row: Equatable {}
extension ListEdit: Equatable where Row: Equatable {}

extension ListChange {
    /// Makes `rows` equal to the list after this change.
    public func apply(to rows: inout [Row]) {
        switch self {
        case .snapshot(let all): rows = all
        case .diff(let edits):
            for edit in edits { edit.apply(to: &rows) }
        }
    }
}

extension ListEdit {
    /// Makes this edit in `rows`.
    public func apply(to rows: inout [Row]) {
        switch self {
        case .insert(let row, let index): rows.insert(row, at: index)
        case .update(let row, let index): rows[index] = row
        case .move(let from, let to): rows.insert(rows.remove(at: from), at: to)
        case .remove(let index): rows.remove(at: index)
        }
    }
}

extension Array where Element: Identifiable & Equatable & Sendable {
    /// The edits that turn this array into `target`. Ids are unique in both. Rows that keep their order do not move.
    func edits(to target: [Element]) -> [ListEdit<Element>] {
        var edits: [ListEdit<Element>] = []
        let wanted = Set(target.map(\.id))
        var current = self
        for index in indices.reversed() where !wanted.contains(self[index].id) {
            edits.append(.remove(at: index))
            current.remove(at: index)
        }
        let places = Dictionary(uniqueKeysWithValues: current.enumerated().map { ($1.id, $0) })
        let kept = Set(longestAscending(target.compactMap { places[$0.id] }).map { current[$0].id })
        var place = 0  // Where the next row of `target` belongs.
        for row in target {
            if kept.contains(row.id) {
                // Rows in between move away later.
                while current[place].id != row.id { place += 1 }
            } else if places[row.id] != nil, let from = current.firstIndex(where: { $0.id == row.id }) {
                let to = from < place ? place - 1 : place
                if from != to { edits.append(.move(from: from, to: to)) }
                current.insert(current.remove(at: from), at: to)
                place = to
            } else {
                edits.append(.insert(row, at: place))
                current.insert(row, at: place)
            }
            place += 1
        }
        for (index, row) in target.enumerated() where current[index] != row { edits.append(.update(row, at: index)) }
        return edits
    }
}

/// A longest ascending subsequence of distinct numbers (patience sorting, n log n).
private func longestAscending(_ numbers: [Int]) -> [Int] {
    var tops: [Int] = []  // Indices into `numbers`: the smallest end of an ascending sequence of each length.
    var before = [Int?](repeating: nil, count: numbers.count)
    for (index, number) in numbers.enumerated() {
        var low = 0
        var high = tops.count
        while low < high {
            let middle = (low + high) / 2
            if numbers[tops[middle]] < number { low = middle + 1 } else { high = middle }
        }
        before[index] = low > 0 ? tops[low - 1] : nil
        if low == tops.count { tops.append(index) } else { tops[low] = index }
    }
    var result: [Int] = []
    var next = tops.last
    while let index = next {
        result.append(numbers[index])
        next = before[index]
    }
    return result.reversed()
}
