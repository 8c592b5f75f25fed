// Legal holds: the calls of administrators, and the reading of held contents. Each reading is in the audit log.
import Domain
import Postgres

/// What all nodes' holds keep.
package struct HoldCounts: Sendable {
    package var inForce = 0
    package var contents = 0
    package var files = 0
    /// Of the contents as PostgreSQL stores them, and of the files.
    package var byteCount = 0

    package init() {}
}

/// A page of held contents.
package struct HeldPage: Sendable {
    package var items: [JSONText]
    /// The number of the last content, if others follow.
    package var next: Int64?
}

extension Store {
    /// Begins a hold. Throws `user_not_found`, `thread_not_found`.
    package func createHold(
        _ hold: HoldID, _ draft: HoldDraft, by actor: AdminActor, once: IdempotentRequest? = nil
    ) async throws -> JSONText {
        let subject: [Parameter] =
            switch draft.subject {
            case .user(let user): [.id(try await id(of: user, in: "user_id")), .null]
            case .thread(let thread): [.null, .id(try await id(of: thread, in: "thread_id"))]
            }
        return try await create(
            Creation("hold_create"), once: once,
            actor.parameters + [.id(hold), .text(draft.name.text), .text(orNull: draft.reason?.text)] + subject
        ).body
    }

    /// Throws `hold_not_found`.
    package func hold(_ hold: HoldID) async throws -> JSONText {
        try await reads.json("hold_get", [.id(hold)])
    }

    /// Returns a page of all holds, the newest first.
    package func holds(_ request: PageRequest) async throws -> Page {
        try await reads.page("hold_list", [], request)
    }

    /// Releases a hold. Throws `hold_not_found`.
    package func releaseHold(_ hold: HoldID, by actor: AdminActor) async throws {
        try await call("hold_release", actor.parameters + [.id(hold)])
    }

    /// Returns what a hold keeps after a number, and records the reading. Throws `hold_not_found`, `hold_released`.
    package func heldContents(
        _ hold: HoldID, after number: Int64, limit: Int, by actor: AdminActor
    ) async throws -> HeldPage {
        try await heldPage("hold_contents", actor.parameters + [.id(hold), .int8(number), .int(limit)])
    }

    /// Begins an export, and records that. Returns the hold. Throws as `heldContents`.
    package func beginHoldExport(_ hold: HoldID, by actor: AdminActor) async throws -> JSONText {
        try await json("hold_export_begin", actor.parameters + [.id(hold)])
    }

    /// Returns the next part of an export that was begun. Throws as `heldContents`.
    package func holdExportPage(_ hold: HoldID, after number: Int64, limit: Int) async throws -> HeldPage {
        try await heldPage("hold_export_page", [.id(hold), .int8(number), .int(limit)])
    }

    /// Records that all contents were exported. Returns the time (RFC 3339). Throws as `heldContents`.
    package func endHoldExport(
        _ hold: HoldID, count: Int, sha256: String, by actor: AdminActor
    ) async throws -> String {
        try await value("hold_export_end", actor.parameters + [.id(hold), .int8(Int64(count)), .text(sha256)]) {
            try $0.text(0)
        }
    }

    /// Erases a part of what released holds kept. Returns false when there is nothing to do.
    /// - Parameter limit: contents to look at.
    package func sweepHolds(limit: Int) async throws -> Bool {
        try await value("hold_sweep", [.int(limit)]) { try $0.int4(0) > 0 }
    }

    package func holdCounts() async throws -> HoldCounts {
        try await reads.row("hold_counts", []) { row in
            var counts = HoldCounts()
            counts.inForce = Int(try row.int8(0))
            counts.contents = Int(try row.int8(1))
            counts.files = Int(try row.int8(2))
            counts.byteCount = Int(try row.int8(3))
            return counts
        }
    }

    /// Returns the seed of the key that signs exports. If there is none, stores `seed`. So all nodes have the same key.
    package func exportKeySeed(otherwise seed: [UInt8]) async throws -> [UInt8] {
        try await value("export_key_keep", [.bytes(seed)]) { try $0.bytes(0) }
    }

    private func heldPage(_ function: String, _ parameters: [Parameter]) async throws -> HeldPage {
        let rows = try await rows(function, parameters)
        return try await decoded {
            var page = HeldPage(items: [], next: nil)
            for row in rows {
                page.items.append(try row.json(0))
                page.next = try row.bool(2) ? try row.int8(1) : nil
            }
            return page
        }
    }
}
