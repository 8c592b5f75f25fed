// What a device does when its cursor has expired.

import Foundation

/// The answer 410: which threads to load anew, and where to go on from.
struct ReloadAnswer: Sendable {
    /// The cursor that was refused.
    let cursor: String
    /// How much the device had seen until then.
    let seenEventCount: Int
    /// The last seq by thread; 0 where there is nothing to be read any more.
    let heads: [UUID: Int]
    let fresh: String

    /// Nil unless the answer says all that a client needs.
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
