// Whether a batch of messages first looks for stored messages with its ids.

/// Nearly all ids are new, so a batch is first written without looking for them; the index refuses one that is taken, and
/// then the batch is written again, with a look. So that clients which repeat ids cannot double the cost of all writes,
/// the next batches look at once: at most one batch in `checkedCount` is written twice.
struct IDChecks {
    static let checkedCount = 64

    private var left = 0

    /// Returns whether the next batch has to look.
    mutating func next() -> Bool {
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// A batch had an id that was taken.
    mutating func found() { left = Self.checkedCount }
}
