// Imports of archives: staging lines, checking them, and making them visible at once.
import Domain
import Postgres

/// An import whose lines are being staged.
package struct ImportPlace: Sendable, Equatable {
    package let id: ImportID
    /// What is staged, from the beginning of the archive.
    package var byteCount: Int
    package var lineCount: Int

    package init(id: ImportID, byteCount: Int, lineCount: Int) {
        self.id = id
        self.byteCount = byteCount
        self.lineCount = lineCount
    }
}

/// What an import keeps of the settings.
package struct ImportRules: Sendable {
    package var isDryRun: Bool
    /// The longest retention of the service in seconds. 0: any.
    package var retentionMaxS: Int
    /// For how long attachments are kept that nothing uses.
    package var unusedAttachmentHours: Int

    package init(isDryRun: Bool, limits: Limits) {
        self.isDryRun = isDryRun
        retentionMaxS = limits.retentionMaxS
        unusedAttachmentHours = limits.unusedAttachmentHours
    }
}

extension Store {
    /// Begins an import, or finds that of the same file.
    /// - Parameter digest: SHA-256 of the file. Nil begins a new import in any case.
    package func beginImport(digest: [UInt8]? = nil) async throws -> ImportPlace {
        let row = try await imports.row(
            Statement("import_begin", "select * from import_begin($1)"), [digest.map(Parameter.bytes) ?? .null])
        return try await decoded {
            ImportPlace(
                id: ImportID(try row.uuid(0)), byteCount: Int(try row.int8(1)), lineCount: Int(try row.int8(2)))
        }
    }

    /// Stages a part, durable. Throws `import_ended`, `import_superseded`.
    package func stage(_ part: ImportPart, of id: ImportID) async throws {
        _ = try await imports.rows(
            Statement(
                "import_stage",
                """
                select import_stage($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
                $19, $20, $21, $22, $23, $24, $25)
                """),
            [
                .id(id), .int8(Int64(part.start)), .int8(Int64(part.byteCount)), .int8(Int64(part.lineCount)),
                .bool(part.isComplete),
            ] + Self.columns(part.messages) + Self.columns(part.chunks) + [.json(Self.rest(part.rows))])
    }

    private static func columns(_ messages: [ImportedMessage]) -> [Parameter] {
        [
            .int8s(messages.map { Int64($0.line) }), .ids(messages.map(\.thread)), .int8s(messages.map(\.seq)),
            .ids(messages.map(\.id)), .uuids(messages.map { $0.sender?.uuid }), .texts(messages.map(\.type)),
            .jsons(messages.map { $0.payload?.text.utf8 }),
            .texts(messages.map { $0.payload.flatMap { $0.attachments.isEmpty ? nil : arrayLiteral($0.attachments) } }),
            .uuids(messages.map { $0.replyTo?.uuid }),
            .texts(messages.map { $0.mentions.isEmpty ? nil : arrayLiteral($0.mentions) }),
            .timestamps(messages.map(\.createdAt.microsSince1970)),
            .timestamps(messages.map { $0.editedAt?.microsSince1970 }),
            .timestamps(messages.map { $0.deletedAt?.microsSince1970 }),
            .timestamps(messages.map { $0.expiresAt?.microsSince1970 }),
        ]
    }

    private static func columns(_ chunks: [ImportedChunk]) -> [Parameter] {
        [
            .int8s(chunks.map { Int64($0.line) }), .ids(chunks.map(\.attachment)),
            .int2s(chunks.map(\.variant.rawValue)), .int4s(chunks.map(\.number)), .bytesArray(chunks.map(\.bytes)),
        ]
    }

    private static func rest(_ rows: [ImportTable: [JSONValue]]) -> JSONText {
        JSONText(
            .object(
                ImportTable.allCases.compactMap { table in
                    rows[table].map { JSONValue.Member(table.rawValue, .array($0)) }
                }))
    }

    /// Returns the first bad line and what is wrong with it; nil if all can be imported. Throws `import_ended`.
    package func checkImport(_ id: ImportID) async throws -> (line: Int, detail: String)? {
        let row = try await imports.row(
            Statement("import_check", "select line, detail from import_check($1)"), [.id(id)])
        return try await decoded { row.isNull(0) ? nil : (Int(try row.int8(0)), try row.text(1)) }
    }

    /// Applies a checked import and drops it. Returns the report. Throws `import_ended`; `overloaded` if something of
    /// the archive was created meanwhile, or another import is applied for too long: then the import is still there.
    package func applyImport(_ id: ImportID, rules: ImportRules, by actor: AdminActor) async throws -> JSONText {
        try await imports.json(
            Statement("import_apply", "select import_apply($1, $2, $3, $4, $5, $6, $7)"),
            [.id(id), .bool(rules.isDryRun)] + actor.parameters + [
                .int4(Int32(rules.retentionMaxS)), .int4(Int32(rules.unusedAttachmentHours * 3_600)),
            ])
    }

    /// Drops an import with all its staged lines. Does nothing if it has ended.
    package func dropImport(_ id: ImportID) async throws {
        _ = try await imports.rows(Statement("import_drop", "select import_drop($1)"), [.id(id)])
    }

    /// Drops one import that nobody has touched for `idleS` seconds, or `fileIdleS` if it can be continued by its file.
    /// Returns whether there was one.
    package func sweepImports(idleS: Int, fileIdleS: Int) async throws -> Bool {
        let row = try await imports.row(
            Statement("import_sweep", "select import_sweep($1, $2)"), [.int4(Int32(idleS)), .int4(Int32(fileIdleS))])
        return try await decoded { try row.bool(0) }
    }
}
