// Lines for users.
import Domain

extension ArchiveBuilder {
    /// Writes the line of a person, unless it is written. Returns the id.
    @discardableResult
    func add(_ person: SourcePerson) throws -> UserID {
        let id = ids.user(person.source)
        guard people[id] == nil else { return id }
        let name = displayName(person)
        let username = username(person)
        try lines.append(
            "user",
            [
                .init("id", .string(id.description)), .text("username", username), .init("name", .string(name)),
                .text("status_text", statusText(person)), .text("email", email(person)),
                person.isBot ? .init("kind", .string("bot")) : nil,
                person.isSuspended ? .init("suspended", .bool(true)) : nil,
                .init("created_at", .string((person.createdAt ?? unknownCreatedAt).description)),
            ])
        people[id] = BuiltPerson(name: name, username: username)
        if person.createdAt == nil { report.change("users without a creation time in the export", name) }
        return id
    }

    /// The id of a person. One whom the export names and does not describe gets a suspended account.
    func person(_ source: String, name: String? = nil, isBot: Bool = false) throws -> UserID {
        let id = ids.user(source)
        guard people[id] == nil else { return id }
        if !isBot {
            report.change("people whom the export names and does not describe: suspended accounts", name ?? source)
        }
        return try add(
            SourcePerson(source: source, names: [name, "Unknown user"], isBot: isBot, isSuspended: !isBot))
    }

    private func displayName(_ person: SourcePerson) -> String {
        let given = person.names.compactMap { $0 }.filter { !$0.trimmed.isEmpty }
        for name in given {
            if let valid = try? DisplayName(text: name) { return valid.text }
            let shortened = String(name.showable.unicodeScalars.prefix(DisplayName.characterCountMax))
            if let valid = try? DisplayName(text: shortened) {
                report.change("names that Parley does not accept, shortened or cleaned", name)
                return valid.text
            }
        }
        report.change("users without a name that Parley accepts: named after their id", person.source)
        let name = "User \(person.source)".showable.unicodeScalars.prefix(DisplayName.characterCountMax)
        return (try? DisplayName(text: String(name)))?.text ?? "User"
    }

    private func username(_ person: SourcePerson) -> String? {
        guard let text = person.username, !text.isEmpty else { return nil }
        guard let username = try? Username(text: text) else {
            report.leaveOut("usernames that Parley does not accept", text)
            return nil
        }
        guard usernames.insert(username.key).inserted else {
            report.leaveOut("usernames that two users of the export have, at the second user", text)
            return nil
        }
        return username.text
    }

    private func email(_ person: SourcePerson) -> String? {
        guard let text = person.email, !text.isEmpty else {
            if !person.isBot {
                report.leaveOut(
                    "e-mail addresses that are not in the export (users)",
                    person.names.compactMap { $0 }.first ?? person.source)
            }
            return nil
        }
        guard let email = try? EmailAddress(text: text) else {
            report.leaveOut("e-mail addresses that Parley does not accept", text)
            return nil
        }
        guard emails.insert(email.key).inserted else {
            report.leaveOut("e-mail addresses that two users of the export have, at the second user", text)
            return nil
        }
        return email.text
    }

    private func statusText(_ person: SourcePerson) -> String? {
        guard let text = person.statusText?.trimmed, !text.isEmpty else { return nil }
        let line = String(text.showable.unicodeScalars.prefix(StatusText.characterCountMax))
        return (try? StatusText(text: line))?.text
    }
}
