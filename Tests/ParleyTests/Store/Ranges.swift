// Which messages of a thread the device has.
import Foundation
import TestBasics
import Testing

@testable import Parley

@Suite("Ranges of a thread", .timeLimit(.minutes(1)))
struct Ranges {
    @Test("Ranges that touch or overlap become one, and gaps are what lies between")
    func joining() async throws {
        let store = try ClientStore(.memory)
        try await store.write { fold in
            try fold.cover("t", 10, 20)
            try fold.cover("t", 30, 40)
            try fold.cover("other", 1, 100)
        }
        #expect(try await store.read { try $0.gaps("t", in: 1...50) } == [1...9, 21...29, 41...50])
        try await store.write { try $0.cover("t", 21, 29) }
        #expect(try await store.read { try $0.gaps("t", in: 10...40) }.isEmpty)
        #expect(try await store.read { try $0.one("select count(*) from span where thread_id = 't'") } == 1)
    }

    @Test("Random ranges cover exactly what was fetched")
    func property() async throws {
        let store = try ClientStore(.memory)
        var random = SplitMix64(freshFor: "random ranges")
        var covered = Set<Seq>()
        for _ in 0..<200 {
            let first = Seq(random.below(200))
            let last = first + (random.below(6) - 1)
            if first <= last { covered.formUnion(first...last) }
            try await store.write { try $0.cover("t", first, last) }
            let gaps = try await store.read { try $0.gaps("t", in: 0...250) }
            let wanted = Set<Seq>(0...250).subtracting(covered)
            #expect(Set<Seq>(gaps.joined()) == wanted)
        }
    }
}
