// The seal around typing and presence between nodes, as a value with keys and times of the test's choice.
import Basics
import Domain
import Testing

@testable import Log

@Suite("Sealed payloads", .timeLimit(.minutes(1)))
struct SealedPayloads {
    static let key = Array(repeating: UInt8(7), count: 32)
    let start = Timestamp(microsSince1970: 1_800_000_000_000_000)

    private func seal(_ node: UInt64, key: [UInt8] = Self.key) -> PassingSeal { PassingSeal(key: key, node: node) }

    private func after(seconds: Int64) -> Timestamp {
        Timestamp(microsSince1970: start.microsSince1970 + seconds * 1_000_000)
    }

    @Test("are opened by all other nodes, and not by the one that sealed them")
    func opens() throws {
        var (one, two, three) = (seal(1), seal(2), seal(3))
        for text in ["a", "", "Grüße", String(repeating: "x", count: PassingSeal.textByteCountMax)] {
            let payload = try #require(try one.seal(text, now: start))
            #expect(payload.utf8.count < 8000)
            #expect(try two.open(payload, now: start) == text)
            #expect(try three.open(payload, now: start) == text)
            #expect(try one.open(payload, now: start) == nil)
        }
    }

    @Test("show nothing of their text, and are never the same twice")
    func unreadable() throws {
        var one = seal(1)
        let text = String(repeating: "typing", count: 20)
        let payloads = try (0..<50).map { _ in try #require(try one.seal(text, now: start)) }
        #expect(Set(payloads).count == 50)
        // The head names the node and its count. What follows differs as random bytes do.
        let bodies = try payloads.map { try #require(Base64.urlSafe.decode($0)).dropFirst(17) }
        for (left, right) in zip(bodies, bodies.dropFirst()) {
            #expect(zip(left, right).count { $0 == $1 } < 12)
        }
        #expect(bodies.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("typing") })
    }

    @Test("that were changed in any byte, cut or made longer are dropped")
    func tampered() throws {
        var one = seal(1)
        let payload = try #require(try one.seal("text", now: start))
        let bytes = try #require(Base64.urlSafe.decode(payload))
        for place in bytes.indices {
            for bit in [UInt8(1), 128] {
                var changed = bytes
                changed[place] ^= bit
                var two = seal(2)
                #expect(try two.open(Base64.urlSafe.encode(changed), now: start) == nil, "byte \(place)")
            }
        }
        for count in 0..<bytes.count {
            var two = seal(2)
            #expect(try two.open(Base64.urlSafe.encode(Array(bytes[..<count])), now: start) == nil, "\(count) bytes")
        }
        var two = seal(2)
        #expect(try two.open(Base64.urlSafe.encode(bytes + [0]), now: start) == nil)
        #expect(try two.open(payload, now: start) == "text")
    }

    @Test(
        "that are garbage are dropped",
        arguments: [
            "", "x", "n1\nx y {}", "{}", "ÄÖÜ", String(repeating: "A", count: 7999),
            String(repeating: "A", count: 100_000),
            String(repeating: "AQ", count: 100), "\u{0}",
        ])
    func garbage(payload: String) throws {
        var two = seal(2)
        #expect(try two.open(payload, now: start) == nil)
    }

    @Test("of another key are dropped")
    func otherKey() throws {
        var (one, two) = (seal(1, key: Array(repeating: 8, count: 32)), seal(2))
        let payload = try #require(try one.seal("text", now: start))
        #expect(try two.open(payload, now: start) == nil)
    }

    @Test(
        "are dropped a minute before and after their time",
        arguments: [
            (0, true), (59, true), (60, true), (61, false), (-60, true), (-61, false), (1_000_000_000, false),
        ])
    func age(seconds: Int64, isOpened: Bool) throws {
        var (one, two) = (seal(1), seal(2))
        let payload = try #require(try one.seal("text", now: start))
        #expect((try two.open(payload, now: after(seconds: seconds)) != nil) == isOpened)
    }

    @Test("of any time that a number can say are compared without an overflow", arguments: [Int64.min, -1, 0, .max])
    func extremes(micros: Int64) throws {
        var (one, two) = (seal(1), seal(2))
        let payload = try #require(try one.seal("text", now: Timestamp(microsSince1970: micros)))
        #expect(try two.open(payload, now: start) == nil)
    }

    @Test("are opened once, and in the order of their node; other nodes' do not count")
    func repeated() throws {
        var (one, two, three) = (seal(1), seal(2), seal(3))
        let payloads = try (0..<3).map { try #require(try one.seal("\($0)", now: start)) }
        #expect(try two.open(payloads[1], now: start) == "1")
        #expect(try two.open(payloads[1], now: start) == nil)
        #expect(try two.open(payloads[0], now: start) == nil)
        #expect(try two.open(try #require(try three.seal("other", now: start)), now: start) == "other")
        #expect(try two.open(payloads[2], now: start) == "2")
    }

    @Test("of many nodes that are gone are forgotten, when they are too old in any case")
    func forgets() throws {
        var two = seal(2)
        var first: String?
        for number in 0..<3 * UInt64(PassingSeal.nodeCountMax) {
            var other = seal(100 + number)
            let now = after(seconds: Int64(number))
            let payload = try #require(try other.seal("x", now: now))
            first = first ?? payload
            #expect(try two.open(payload, now: now) == "x")
        }
        #expect(two.nodeCount <= PassingSeal.nodeCountMax)
        #expect(try two.open(try #require(first), now: after(seconds: 300)) == nil)
    }

    @Test("are not created from a text that is too large")
    func tooLarge() throws {
        var one = seal(1)
        let text = String(repeating: "x", count: PassingSeal.textByteCountMax + 1)
        #expect(try one.seal(text, now: start) == nil)
    }
}
