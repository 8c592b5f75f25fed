import Parley
import ParleyObservation
import SwiftUI

struct InboxView: View {
    @State private var inbox: InboxModel

    init(parley: ParleyClient) {
        _inbox = State(initialValue: InboxModel(parley))
    }

    var body: some View {
        List(inbox.rows) { row in
            Text(row.thread.title ?? row.thread.peer?.name ?? "")
        }
    }
}
