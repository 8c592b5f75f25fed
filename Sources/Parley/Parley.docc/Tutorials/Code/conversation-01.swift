import Parley
import ParleyObservation
import SwiftUI

struct ConversationView: View {
    @State private var timeline: TimelineModel

    init(parley: ParleyClient, id: ThreadID) {
        _timeline = State(initialValue: TimelineModel(parley.thread(id)))
    }

    var body: some View {
        List(timeline.rows) { row in
            TimelineLine(row: row)
        }
        .task { await timeline.run() }
    }
}

struct TimelineLine: View {
    let row: TimelineRow

    var body: some View {
        switch row {
        case .message(let message, _):
            Text("\(message.sender?.name ?? ""): \(message.text ?? "")")
        case .outgoing(let message):
            Text("… \(message.text ?? "")")
        case .divider:
            Text("New messages")
        case .hole:
            ProgressView()
        @unknown default:
            EmptyView()
        }
    }
}
