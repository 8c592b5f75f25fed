// The code of the article "Attachments".
import Foundation
import Parley

private func send(_ thread: ChatThread, photo: URL, notes: Data) async throws {
    // snippet
    let message = try await thread.send(
        .text("From the mountain"),
        attachments: [
            .file(photo),
            .data(notes, name: "notes.txt", contentType: "text/plain"),
        ])
    // end
    _ = message
}

private func progress(_ message: OutgoingMessage) async {
    // snippet
    for await state in message.states {
        if case .uploading(let share) = state { print("\(Int(share * 100)) %") }
        if case .sent = state { break }
    }
    // end
}

private func show(_ parley: ParleyClient, _ attachment: Attachment, folder: URL) async throws {
    // snippet
    let preview = try await AttachmentDownload(id: attachment.id, variant: .thumbnail).data(with: parley)

    let file = folder.appending(path: attachment.id.rawValue)
    try await AttachmentDownload(id: attachment.id).save(to: file, with: parley) { share in
        print("\(Int(share * 100)) %")
    }
    // end
    _ = preview
}

private func link(_ parley: ParleyClient, _ attachment: Attachment) async throws {
    // snippet
    let link = try await parley.call(.attachments.link(attachment.id, validFor: .seconds(600)))
    print(link.url, "works until", link.expiresAt)
    // end
}
