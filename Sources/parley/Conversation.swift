// `parley chat`.
import Foundation
import TerminalClient

enum Conversation {
    static func run(_ arguments: [String]) async throws {
        let environment = ProcessInfo.processInfo.environment
        switch try ChatInvocation.parse(arguments, environment: environment) {
        case .show(let text): print(text)
        case .run(let settings): try await TerminalClient.run(settings, environment: environment)
        }
    }
}
