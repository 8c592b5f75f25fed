// Compares two recordings of the same story.

import Foundation

/// Leaves out what depends on the moment: times, delivered marks, typing, presence, and how events are distributed over
/// polls. Read marks that arrive together in one event are in the expectations that follow.
enum VectorComparison {
    static var time: Regex<Substring> { /202[0-9]-[0-9-]{5}T[0-9:]{8}\.[0-9]{3}Z/ }

    /// Describes the first step that differs. Nil: the recordings agree.
    static func difference(_ stored: JSON, _ recorded: JSON) -> String? {
        let (old, new) = (comparable(stored["steps"].items), comparable(recorded["steps"].items))
        for (number, (left, right)) in zip(old, new).enumerated() where left != right {
            return "Step \(number + 1) was\n\(left)\nand is\n\(right)"
        }
        guard old.count != new.count else { return nil }
        let extra = (old.count > new.count ? old : new)[min(old.count, new.count)]
        return "\(old.count) steps, and \(new.count) now. The first that only one has:\n\(extra)"
    }

    private static func comparable(_ steps: [JSON]) -> [JSON] {
        var found: [JSON] = []
        var threads: [JSON: JSON] = [:]
        for step in steps {
            if step.keys == ["events"] {
                let events = step["events"].items.filter(isLasting).map(timeless)
                let earlier = found.last?["events"].items ?? []
                if !earlier.isEmpty { found.removeLast() }
                if !events.isEmpty || !earlier.isEmpty { found.append(["events": .array(earlier + events)]) }
                continue
            }
            let step = timeless(step)
            guard case .object(var expected) = step["expect"] else {
                found.append(step)
                continue
            }
            // A file has only the threads that have changed.
            for thread in step["expect"]["threads"].items { threads[thread["id"]] = thread }
            expected["threads"] = .array(step["expect"]["order"].items.compactMap { threads[$0] })
            // Between two equal expectations were events that are left out.
            let isRepeated = found.last?["expect"] == .object(expected.filter { $0.key != "messages" })
            if isRepeated { found.removeLast() }
            found.append(["expect": .object(expected)])
        }
        return found
    }

    /// Whether each recording has the event, at the same place.
    private static func isLasting(_ event: JSON) -> Bool {
        // A mark is read at the moment of its event, or the event brings delivered marks only.
        if event["type"] == "receipt.updated" { return event["data"]["read_at"] == event["at"] }
        return !SyncPage.passing.contains(event["type"].string ?? "")
    }

    private static func timeless(_ value: JSON) -> JSON {
        switch value {
        case .array(let items): return .array(items.map(timeless))
        case .object(let members):
            let isMoment = { ["delivered_at", "delivered_seq"].contains($0) }
            return .object(members.filter { !isMoment($0.key) }.mapValues(timeless))
        case .string(let text): return text.wholeMatch(of: time) == nil ? value : "time"
        default: return value
        }
    }
}
