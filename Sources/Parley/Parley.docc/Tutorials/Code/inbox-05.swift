import Parley
import ParleyObservation
import SwiftUI

struct InboxView: View {
    @State private var inbox: InboxModel
    private let parley: ParleyClient

    init(parley: ParleyClient) {
        self.parley = parley
        _inbox = State(initialValue: InboxModel(parley))
    }

    var body: some View {
        NavigationStack {
            VStack {
                if inbox.isLoaded, inbox.rows.isEmpty {
                    Text("No conversations yet")
                }
                List(inbox.rows) { row in
                    NavigationLink {
                        ConversationView(parley: parley, id: row.id)
                    } label: {
                        InboxLine(thread: row.thread)
                    }
                }
                HStack {
                    NavigationLink {
                        NewConversationView(parley: parley)
                    } label: {
                        Text("New conversation")
                    }
                    Button("Sign out") {
                        Task { await parley.signOut() }
                    }
                }
            }
        }
        .task { await inbox.run() }
    }
}

struct InboxLine: View {
    let thread: ThreadSummary

    var body: some View {
        HStack {
            VStack(alignment: .leading) {
                Text(thread.title ?? thread.peer?.name ?? "")
                    .font(.headline)
                Text(thread.lastMessage?.text ?? "")
                    .lineLimit(1)
            }
            Spacer()
            if thread.unreadCount > 0 {
                Text("\(thread.unreadCount)")
            }
        }
    }
}
