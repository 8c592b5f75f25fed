// One import from its first byte to its report.
import Domain
import Store

/// Stages what it reads, checks it and applies it. Holds one part of the archive at a time.
package struct ImportRun: Sendable {
    /// Tries to apply, if something of the archive was created meanwhile.
    private static let applyCountMax = 3

    private let store: Store
    private let limits: Limits
    private let rules: ImportRules
    private let actor: AdminActor
    private let metrics: ImportMetrics

    package init(store: Store, limits: Limits, isDryRun: Bool, actor: AdminActor, metrics: ImportMetrics) {
        self.store = store
        self.limits = limits
        rules = ImportRules(isDryRun: isDryRun, limits: limits)
        self.actor = actor
        self.metrics = metrics
    }

    /// Stages an archive from a place on.
    /// - Parameters:
    ///   - read: returns the next bytes of the archive, nil at its end.
    ///   - staged: called after each part, which survives everything from then on.
    /// Throws `ImportFailure`, `Problem` and what `read` throws.
    package func stage(
        from place: ImportPlace, staged: (ImportPlace) -> Void = { _ in }, read: () async throws -> [UInt8]?
    ) async throws {
        var maker = PartMaker(from: place, limits: limits)
        var place = place
        while let bytes = try await read() {
            maker.append(bytes)
            while let part = try maker.next() { try await stage(part, &place, staged) }
        }
        if let part = try maker.rest() { try await stage(part, &place, staged) }
    }

    private func stage(_ part: ImportPart, _ place: inout ImportPlace, _ staged: (ImportPlace) -> Void) async throws {
        try await store.stage(part, of: place.id)
        place.byteCount += part.byteCount
        place.lineCount += part.lineCount
        metrics.lines.add(part.lineCount)
        staged(place)
    }

    /// Checks what is staged and applies it. Returns the report. Throws `ImportFailure` and `Problem`; then the import is
    /// still there.
    package func finish(_ id: ImportID) async throws -> JSONText {
        if let bad = try await store.checkImport(id) { throw ImportFailure.badLine(bad.line, bad.detail) }
        try await ImportedFiles(store: store, id: id).prepare()
        for _ in 1..<Self.applyCountMax {
            do {
                return try await store.applyImport(id, rules: rules, by: actor)
            } catch let problem as Problem where problem.code == .overloaded {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        return try await store.applyImport(id, rules: rules, by: actor)
    }
}
