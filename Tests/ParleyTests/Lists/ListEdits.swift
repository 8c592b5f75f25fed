// The edits that turn one list into another.
import TestBasics
import Testing

@testable import Parley

@Suite("Edits of a list", .timeLimit(.minutes(1)))
struct ListEdits {
    struct Row: Identifiable, Equatable, Sendable {
        let id: Int
        var text = ""
    }

    @Test("Applying the edits to the old list gives the new one, for random lists")
    func property() {
        var random = SplitMix64(freshFor: "edits of random lists")
        for _ in 0..<2_000 {
            let old = Self.list(&random)
            let new = Self.list(&random)
            var copy = old
            ListChange.diff(old.edits(to: new)).apply(to: &copy)
            #expect(copy == new)
        }
    }

    @Test("Equal lists need no edit")
    func equal() {
        let list = [Row(id: 1), Row(id: 2)]
        #expect(list.edits(to: list).isEmpty)
        #expect([Row]().edits(to: []).isEmpty)
    }

    @Test("A row that comes to the top is one move, one that goes to the end, too")
    func oneMove() {
        let list = (0..<100).map { Row(id: $0) }
        var toTop = list
        toTop.insert(toTop.remove(at: 70), at: 0)
        #expect(list.edits(to: toTop) == [.move(from: 70, to: 0)])
        var toEnd = list
        toEnd.append(toEnd.remove(at: 0))
        #expect(list.edits(to: toEnd) == [.move(from: 0, to: 99)])
    }

    @Test("A row that changes and moves is a move and an update")
    func moveAndUpdate() {
        let edits = [Row(id: 1), Row(id: 2)].edits(to: [Row(id: 2, text: "new"), Row(id: 1)])
        #expect(edits.count == 2)
        #expect(edits.last == .update(Row(id: 2, text: "new"), at: 0))
    }

    private static func list(_ random: inout SplitMix64) -> [Row] {
        let ids = (0..<12).filter { _ in random.below(3) > 0 }.shuffled(using: &random)
        return ids.map { Row(id: $0, text: String(random.below(2))) }
    }
}
