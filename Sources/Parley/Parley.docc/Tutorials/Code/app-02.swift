import BackgroundTasks
import Parley
import ParleyObservation
import SwiftUI

@main
struct SmallChat: App {
    private let parley: ParleyClient
    @State private var session: SessionModel
    @Environment(\.scenePhase) private var phase

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
        .onChange(of: phase) { _, phase in
            if phase == .background { requestRefresh() }
            Task {
                if phase == .active { await parley.resume() } else { await parley.suspend() }
            }
        }
        .backgroundTask(.appRefresh("inbox")) {
            await requestRefresh()
            try? await parley.catchUp(within: .seconds(25))
        }
    }

    /// Asks the system to run the background task once.
    private func requestRefresh() {
        try? BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "inbox"))
    }
}
