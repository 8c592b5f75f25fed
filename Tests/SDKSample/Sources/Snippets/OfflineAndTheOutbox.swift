// The code of the article "Offline and the outbox".
import Foundation
import Parley

private func status(_ parley: ParleyClient) async {
    // snippet
    for await status in parley.status {
        switch status {
        case .live: print("connected")
        case .connecting, .behind: print("loading what is new")
        case .offline(let until, let reason): print("\(reason) Next try: \(until.formatted())")
        case .suspended: print("the app is in the background")
        case .signedOut: print("show the sign-in page")
        @unknown default: break
        }
    }
    // end
}

private func follow(_ thread: ChatThread) async throws {
    // snippet
    let message = try await thread.send(.text("Hello Ben"))
    for await state in message.states {
        switch state {
        case .queued: print("waits for the server")
        case .uploading(let share): print("\(Int(share * 100)) % of its files")
        case .sending: print("on its way")
        case .pending: print("waits for a moderator")
        case .failed(let error): print("refused: \(error)")
        case .sent(let seq): return print("number \(seq) of the thread")
        case .cancelled: return print("taken back")
        @unknown default: break
        }
    }
    // end
}

private func repair(_ message: OutgoingMessage) async throws {
    // snippet
    try await message.retry()  // sends a failed message again
    try await message.cancel()  // removes a message that has not been sent
    // end
}

private func unsent(_ parley: ParleyClient) async {
    // snippet
    var unsent: [OutgoingMessage] = []
    for await change in parley.outbox() {
        change.apply(to: &unsent)
        print("\(unsent.count) messages wait")
    }
    // end
}
