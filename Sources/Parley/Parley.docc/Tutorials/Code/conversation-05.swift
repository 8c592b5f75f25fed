import Parley
import ParleyObservation
import SwiftUI
import UniformTypeIdentifiers

struct ConversationView: View {
    @State private var timeline: TimelineModel
    @State private var isChoosing = false
    private let parley: ParleyClient

    init(parley: ParleyClient, id: ThreadID) {
        self.parley = parley
        _timeline = State(initialValue: TimelineModel(parley.thread(id)))
    }

    var body: some View {
        VStack {
            List(timeline.rows) { row in
                TimelineLine(parley: parley, row: row)
                    .onAppear { timeline.didShow(row) }
                    .task {
                        if row.id == timeline.rows.first?.id { await timeline.loadEarlier() }
                    }
            }
            if !timeline.typing.isEmpty {
                Text("\(timeline.typing.compactMap(timeline.name).formatted()) …")
            }
            if !timeline.attachments.isEmpty {
                Text("Pictures to send: \(timeline.attachments.count)")
            }
            HStack {
                Button("Picture") { isChoosing = true }
                TextField("Message", text: $timeline.draft)
                Button("Send") {
                    Task { await timeline.send() }
                }
            }
        }
        .task { await timeline.run() }
        .fileImporter(isPresented: $isChoosing, allowedContentTypes: [.image]) { choice in
            if case .success(let url) = choice { attach(url) }
        }
    }

    /// The system lends the file, so its bytes are read at once.
    private func attach(_ url: URL) {
        guard url.startAccessingSecurityScopedResource() else { return }
        defer { url.stopAccessingSecurityScopedResource() }
        guard let bytes = try? Data(contentsOf: url) else { return }
        timeline.attachments.append(.data(bytes, name: url.lastPathComponent))
    }
}

struct TimelineLine: View {
    let parley: ParleyClient
    let row: TimelineRow

    var body: some View {
        switch row {
        case .message(let message, let delivery):
            // Only the user's own messages have a delivery.
            HStack {
                if delivery != nil { Spacer() }
                VStack(alignment: delivery == nil ? .leading : .trailing) {
                    if delivery == nil { Text(message.sender?.name ?? "").font(.headline) }
                    Text(message.text ?? "")
                    ForEach(message.payload?.attachments.filter(\.hasThumbnail) ?? []) { attachment in
                        PictureView(parley: parley, attachment: attachment)
                    }
                    if let delivery { Text(delivery.isReadByAll ? "read" : "sent") }
                }
            }
        case .outgoing(let message):
            OutgoingLine(message: message)
        case .divider:
            Text("New messages")
        case .hole:
            ProgressView()
        @unknown default:
            EmptyView()
        }
    }
}

struct OutgoingLine: View {
    let message: OutgoingMessage

    var body: some View {
        HStack {
            Spacer()
            VStack(alignment: .trailing) {
                Text(message.text ?? "")
                if case .failed = message.state {
                    HStack {
                        Text("Not sent")
                        Button("Try again") { Task { try? await message.retry() } }
                        Button("Delete") { Task { try? await message.cancel() } }
                    }
                } else {
                    Text("sending…")
                }
            }
        }
    }
}
