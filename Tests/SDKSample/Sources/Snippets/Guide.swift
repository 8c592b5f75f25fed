// The code of docs/sdk.md.
import Foundation
import Parley

/* snippet
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MyChat",
    platforms: [.macOS(.v15), .iOS(.v17)],
    dependencies: [
        .package(url: "https://chat.example.org/parley.git", from: "0.1.0", traits: [])
    ],
    targets: [
        .executableTarget(name: "MyChat", dependencies: [.product(name: "Parley", package: "parley")])
    ]
)
end */

/* snippet
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Chat",
    platforms: [.iOS(.v17)],
    products: [.library(name: "Chat", targets: ["Chat"])],
    dependencies: [
        .package(url: "https://chat.example.org/parley.git", from: "0.1.0", traits: [])
    ],
    targets: [
        .target(
            name: "Chat",
            dependencies: [
                .product(name: "Parley", package: "parley"),
                .product(name: "ParleyObservation", package: "parley"),
            ])
    ]
)
end */

private func quickStart(folder: URL) async throws {
    // snippet
    let parley = try ParleyClient(
        .init(server: URL(string: "http://127.0.0.1:8080")!, store: .file(directory: folder)))
    if try await parley.account.current == nil {
        try await parley.signIn(.password(username: "ann", password: "a river of tea"))
    }

    guard let ben = try await parley.people(matching: "ben").first else { return }
    let thread = try await parley.openDirect(with: ben.id)
    try await thread.send(.text("Hello Ben"))  // returns once it is in the outbox

    var rows: [TimelineRow] = []
    for await change in thread.timeline() {
        change.apply(to: &rows)
        if case .message(let message, _) = rows.last { print(message.text ?? "") }
    }
    // end
}
