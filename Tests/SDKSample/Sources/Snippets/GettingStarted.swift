// The code of the article "Getting started".
import Foundation
import Parley

/* snippet
platforms: [.macOS(.v15), .iOS(.v17)],
dependencies: [
    .package(url: "https://chat.example.org/parley.git", from: "0.1.0", traits: [])
],
targets: [
    .executableTarget(
        name: "MyChat",
        dependencies: [
            .product(name: "Parley", package: "parley"),
            .product(name: "ParleyObservation", package: "parley"),  // for SwiftUI
        ])
]
end */

private func start(folder: URL) throws -> ParleyClient {
    // snippet
    let parley = try ParleyClient(
        .init(
            server: URL(string: "https://chat.example.org")!,
            store: .file(directory: folder)))
    // end
    return parley
}

private func signIn(_ parley: ParleyClient) async throws {
    // snippet
    if try await parley.account.current == nil {
        try await parley.signIn(.password(username: "ann", password: "a river of tea"))
    }
    // end
}

private func showInbox(_ parley: ParleyClient) async {
    // snippet
    var rows: [InboxRow] = []
    for await change in parley.inbox() {
        change.apply(to: &rows)
        for row in rows {
            print(row.thread.title ?? row.thread.peer?.name ?? "", row.thread.unreadCount)
        }
    }
    // end
}

private func send(_ parley: ParleyClient) async throws {
    // snippet
    guard let ben = try await parley.people(matching: "ben").first else { return }
    let thread = try await parley.openDirect(with: ben.id)
    try await thread.send(.text("Hello Ben"))
    // end
}

private func call(_ parley: ParleyClient, _ thread: ChatThread) async throws {
    // snippet
    let page = try await parley.call(.threads.members(of: thread.id))
    print(page.members.map(\.user.name))
    // end
}
