import Parley
import ParleyObservation
import SwiftUI

struct NewConversationView: View {
    let parley: ParleyClient
    @State private var text = ""
    @State private var people: [User] = []
    @State private var opened: ThreadID?

    var body: some View {
        VStack {
            TextField("Name or username", text: $text)
            Button("Find") {
                Task { people = (try? await parley.people(matching: text)) ?? [] }
            }
            List(people) { person in
                Button(person.name) {
                    Task { opened = try? await parley.openDirect(with: person.id).id }
                }
            }
            if let opened {
                NavigationLink {
                    ConversationView(parley: parley, id: opened)
                } label: {
                    Text("Open the conversation")
                }
            }
        }
    }
}
