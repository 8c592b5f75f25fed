// A first-in-first-out queue on a ring, for statements waiting and in flight.

/// A queue with constant-time `append`, `prepend`, `popFirst` and `popLast`.
struct FIFO<Element> {
    private var ring: [Element?] = Array(repeating: nil, count: 16)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : ring[head] }

    mutating func append(_ element: Element) {
        growIfFull()
        ring[(head + count) & (ring.count - 1)] = element
        count += 1
    }

    mutating func prepend(_ element: Element) {
        growIfFull()
        head = (head - 1) & (ring.count - 1)
        ring[head] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            ring[head] = nil
            head = (head + 1) & (ring.count - 1)
            count -= 1
        }
        return ring[head]
    }

    mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        let index = (head + count) & (ring.count - 1)
        defer { ring[index] = nil }
        return ring[index]
    }

    /// Changes the first element in place.
    mutating func updateFirst(_ change: (inout Element) -> Void) {
        guard count > 0, var element = ring[head].take() else { return }
        change(&element)
        ring[head] = element
    }

    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        var kept = FIFO()
        while let element = popFirst() {
            if !isUnwanted(element) { kept.append(element) }
        }
        self = kept
    }

    private mutating func growIfFull() {
        guard count == ring.count else { return }
        // The ring's size stays a power of two, so that positions wrap by a mask.
        ring = (0..<count).map { ring[(head + $0) & (ring.count - 1)] } + Array(repeating: nil, count: count)
        head = 0
    }
}

extension FIFO: Sendable where Element: Sendable {}
