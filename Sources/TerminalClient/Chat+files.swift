// Files: attaching, saving, links and pictures.
import Foundation
import ParleyClient

extension Chat {
    /// Carries out what a prompt asked for.
    func answer(_ prompt: Prompt, _ text: String) {
        guard let (id, screen) = interface.top else { return }
        switch prompt {
        case .attach: attach(PathCompletion.expand(text, home: Self.home), to: id)
        case .save(let attachment): save(attachment, PathCompletion.expand(text, home: Self.home))
        case .rename(let threadID):
            let thread = client.thread(threadID)
            attempt { try await thread.update(title: .set(text)) }
        case .react(let message):
            guard let timeline = screen as? TimelineScreen else { return }
            let thread = client.thread(timeline.threadID)
            attempt { try await thread.react(text, to: message) }
        }
    }

    private static var home: String { FileManager.default.homeDirectoryForCurrentUser.path }

    func complete(_ path: String) {
        guard let id = interface.top?.id else { return }
        let completion = PathCompletion.complete(path, home: Self.home) { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.map { name in
                var isDirectory: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: directory + "/" + name, isDirectory: &isDirectory)
                return isDirectory.boolValue ? name + "/" : name
            }
        }
        interface.update(id, as: PromptScreen.self) { $0.complete(path, with: completion) }
    }

    private func attach(_ path: String, to id: ScreenID) {
        var isDirectory: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        guard isThere, !isDirectory.boolValue, FileManager.default.isReadableFile(atPath: path) else {
            return interface.show(Notice(text: "\(path) cannot be read, or is not a file.", isError: true))
        }
        interface.update(id, as: TimelineScreen.self) { $0.composer.files.append(path) }
    }
}

extension Chat {
    // MARK: Files of messages

    /// Asks for a signed link, once an hour.
    func link(_ id: AttachmentID) {
        guard linked.insert(id).inserted else { return }
        start(for: nil) { chat in
            do {
                let link = try await chat.client.call(.attachments.link(id, seconds: 86_400))
                chat.interface.surroundings.links[id] = link.url.absoluteString
                chat.changed()
            } catch {
                // Offline, or the file is gone. Ask again when the message is drawn later.
                try? await Task.sleep(for: .seconds(10))
                chat.linked.remove(id)
            }
        }
    }

    func save(_ attachment: Attachment, _ path: String) {
        interface.show(Notice(text: "Saving \(attachment.name)…"))
        attempt("Saved as \(path).") { [client] in
            guard case .part(let part) = try await client.call(.attachments.file(attachment.id)) else { return }
            // An existing file is not replaced.
            try part.bytes.write(to: URL(filePath: path), options: .withoutOverwriting)
        }
    }

    func showPicture(_ attachment: Attachment) async {}
}
