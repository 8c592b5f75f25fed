// The people of a test under load, and the threads they share.

import Foundation
import Testing

/// Some people, a group of all of them, a direct thread for every two, and a room that wanderers join and leave.
/// Everybody is in one more group, for the last message of the run.
struct Population: Sendable {
    /// People who stay in all their threads.
    let people: [Person]
    /// People who are in the room only, from time to time.
    let wanderers: [Person]
    let threads: [Shared]
    let room: String
    let closing: String
    /// Everyone's first cursor, from before the first message.
    let start: String

    struct Shared: Sendable {
        let id: String
        /// Indexes into `people`.
        let members: [Int]
    }

    /// The threads of one person.
    func threads(of person: Int) -> [String] { threads.filter { $0.members.contains(person) }.map(\.id) }

    static func gather(_ count: Int = 4, wanderers wandererCount: Int = 1, at caller: some Caller) async throws
        -> Population
    {
        var people: [Person] = []
        for number in 0..<count { people.append(try await caller.register("Person\(number)")) }
        var wanderers: [Person] = []
        for number in 0..<wandererCount { wanderers.append(try await caller.register("Wanderer\(number)")) }
        let start = try await caller.cursor(of: people[0])
        let others = Array(people.dropFirst())
        let group = try await caller.thread("group", by: people[0], with: others)
        let room = try await caller.thread("room", by: people[0], with: [])
        for person in others {
            let joined = try await caller.put("/v1/threads/\(room)/members/me", ["status": "joined"], as: person)
            try #require(joined.status == 200, "\(joined)")
        }
        var threads = [group, room].map { Shared(id: $0, members: Array(people.indices)) }
        for first in stride(from: 0, to: count - 1, by: 2) {
            let id = try await caller.thread("direct", by: people[first], with: [people[first + 1]])
            threads.append(Shared(id: id, members: [first, first + 1]))
        }
        let closing = try await caller.thread("group", by: people[0], with: others + wanderers)
        return Population(
            people: people, wanderers: wanderers, threads: threads, room: room, closing: closing, start: start)
    }
}
