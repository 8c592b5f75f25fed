// The code of the article "Background and push".
import Foundation
import Parley

private func scene(_ parley: ParleyClient, isActive: Bool) async {
    // snippet
    if isActive { await parley.resume() } else { await parley.suspend() }
    // end
}

private func refresh(_ parley: ParleyClient) async throws {
    // snippet
    try await parley.catchUp(within: .seconds(25))
    // end
}

#if canImport(SwiftUI)
    import SwiftUI

    // snippet
    struct ChatScene: Scene {
        let parley: ParleyClient

        var body: some Scene {
            WindowGroup { ContentView(parley: parley) }
                .backgroundTask(.appRefresh("inbox")) {
                    try? await parley.catchUp(within: .seconds(25))
                }
        }
    }
    // end

    private struct ContentView: View {
        let parley: ParleyClient
        var body: some View { Text("") }
    }
#endif

private func badge(_ parley: ParleyClient) async {
    // snippet
    for await unread in parley.unreadTotal {
        print("badge: \(unread)")
    }
    // end
}

private func register(_ parley: ParleyClient, token: Data) async throws {
    // snippet
    let digits = token.map { String(format: "%02x", $0) }.joined()
    _ = try await parley.call(.push.register(.apns(token: digits, environment: .production)))
    // end
}
