// How a device reloads when its cursor has expired.

import Foundation

/// The 410 answer: which threads to reload, and the cursor to continue from.
struct ReloadAnswer: Sendable {
    /// The cursor that was refused.
    let cursor: String
    /// How many events the device had received before.
    let seenEventCount: Int
    /// The last seq by thread; 0 where nothing is readable.
    let heads: [UUID: Int]
    let fresh: String

    /// Nil unless the answer has everything a client needs.
    init?(_ answer: Answer, to cursor: String, after seenEventCount: Int) {
        guard answer.status == 410, answer.headers["content-type"] == "application/problem+json",
            answer.code == "cursor_expired", let fresh = answer.json["cursor"].string, answer.json["threads"].isArray
        else { return nil }
        var heads: [UUID: Int] = [:]
        for thread in answer.json["threads"].items {
            guard let id = thread["id"].string.flatMap({ UUID(uuidString: $0) }), let head = thread["head"].int else {
                return nil
            }
            heads[id] = head
        }
        (self.cursor, self.seenEventCount, self.heads, self.fresh) = (cursor, seenEventCount, heads, fresh)
    }
}
