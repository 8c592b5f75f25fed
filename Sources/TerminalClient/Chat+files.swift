// Files: attaching, saving, links and pictures.
import Foundation
import Parley

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
        case .topic(let threadID):
            let thread = client.thread(threadID)
            attempt { try await thread.update(topic: .set(text.isEmpty ? nil : text)) }
        case .labels(let threadID, _): change(client.thread(threadID), .label(Prompt.labels(in: text)))
        case .react(let message):
            guard let timeline = screen as? TimelineScreen else { return }
            let thread = client.thread(timeline.threadID)
            attempt { try await thread.react(text, to: message) }
        case .group, .room: break  // `PromptScreen` asks for other actions.
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
                let link = try await chat.client.call(.attachments.link(id, validFor: .seconds(86_400)))
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
        guard !FileManager.default.fileExists(atPath: path) else {
            return interface.show(Notice(text: "\(path) exists already. Choose another name.", isError: true))
        }
        interface.show(Notice(text: "Saving \(attachment.name)…"))
        attempt("Saved as \(path).") { [client] in
            try await client.save(attachment.id, to: URL(filePath: path))
        }
    }

    // MARK: Pictures

    /// Larger pictures are left to the link.
    private static let pictureByteCountMax = 5_000_000

    func showPicture(_ attachment: Attachment) async {
        guard graphics.isAvailable else {
            return interface.show(
                Notice(text: "This terminal cannot show pictures. Open the link, or save the file with s."))
        }
        await present(PictureScreen(attachment))
        guard let id = interface.top?.id else { return }
        start(for: id) { chat in
            do {
                let isOriginal = attachment.contentType == "image/png" && attachment.size <= Self.pictureByteCountMax
                let bytes = try await chat.client.data(
                    of: attachment.id, variant: isOriginal || !attachment.hasThumbnail ? .original : .thumbnail)
                if Graphics.isPNG(bytes) {
                    await chat.show(bytes, of: attachment, on: id)
                } else {
                    chat.explain("Only PNG pictures can be shown here. Open the link, or save the file with s.", on: id)
                }
            } catch {
                chat.explain(Self.words(error), on: id)
            }
        }
    }

    private func explain(_ text: String, on id: ScreenID) {
        interface.update(id, as: PictureScreen.self) { $0.message = text }
        changed()
    }

    /// Draws the empty screen, and the picture into it.
    private func show(_ png: Data, of attachment: Attachment, on id: ScreenID) async {
        interface.update(id, as: PictureScreen.self) { $0.message = nil }
        await drawNow()
        guard interface.top?.id == id, let screen = interface.top?.screen as? PictureScreen, let room = screen.room
        else {
            return
        }
        let size = graphics.fitted(width: attachment.width ?? 1, height: attachment.height ?? 1, into: room.size)
        hasPicture = true
        await terminal.write(Graphics.show(png: png, at: room.place, size: size))
    }
}
