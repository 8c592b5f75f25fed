import Parley
import ParleyObservation
import SwiftUI

@main
struct SmallChat: App {
    private let parley: ParleyClient
    @State private var session: SessionModel

    init() {
        do {
            parley = try ParleyClient(
                .init(
                    server: URL(string: "http://127.0.0.1:8080")!,
                    store: .file(directory: URL.applicationSupportDirectory.appending(path: "Parley"))))
        } catch {
            fatalError("The store cannot be opened: \(error)")
        }
        _session = State(initialValue: SessionModel(parley))
    }

    var body: some Scene {
        WindowGroup {
            Group {
                if session.isSignedIn {
                    InboxView(parley: parley)
                } else {
                    SignInView(session: session)
                }
            }
            .task { await session.run() }
        }
    }
}
