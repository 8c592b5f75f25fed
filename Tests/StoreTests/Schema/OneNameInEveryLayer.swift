// A feature has one name in sql/functions, Sources/Store and Sources/API: one search shows it from top to bottom.
import Foundation
import Testing

@Suite("A feature has one name in every layer", .timeLimit(.minutes(1)))
struct OneNameInEveryLayer {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL

    /// Features without separate calls, and the reasons.
    private static let withoutAPI = [
        "Accounts": "API/Accounts has SignIns (creating an account) and Users (reading and changing it).",
        "Announcements": "A worker publishes what a change left over.",
        "Idempotency": "API/Routing/IdempotencyKeys reads the header; the calls that create something pass it on.",
        "Log": "API/Sync reads the log; nodes maintain it.",
        "Presence": "Derived from the polls of API/Sync; API/Accounts/Users shows it.",
        "Replica": "History, search, member lists and exports are read from it.",
        "Retention": "API/Chat/ThreadSettings sets it; a worker withdraws what is due.",
    ]

    /// Calls without separate functions, and the reasons.
    private static let withoutStore = [
        "DelegatedSignIns": "Signs in by the host app's tokens, through Store/Accounts/SignIns.",
        "ForgottenPasswords": "Through Store/Accounts/Passwords.",
        "Send": "The fast path of Store/Chat/Messages.",
    ]

    @Test("sql/functions has a folder for each feature of Store, and no other")
    func sqlAndStore() throws {
        let folders = try Self.names(in: "sql/functions", isFolder: true).map(Self.camelCase)
        let store = try Self.storeFeatures()
        #expect(
            store.symmetricDifference(folders).sorted() == [],
            "Each needs a folder in sql/functions, and a file of that name in Sources/Store.")
    }

    @Test("API has a file for each feature of Store, and no other")
    func storeAndAPI() throws {
        let store = try Self.storeFeatures().subtracting(Self.withoutAPI.keys)
        let calls = try Self.apiFeatures().subtracting(Self.withoutStore.keys)
        #expect(
            store.symmetricDifference(calls).sorted() == [],
            "Each needs a file in Sources/Store and in Sources/API, or an exception with its reason in this test.")
    }

    @Test("an exception still applies")
    func exceptions() throws {
        let (store, calls) = (try Self.storeFeatures(), try Self.apiFeatures())
        #expect(store.isSuperset(of: Self.withoutAPI.keys) && calls.isDisjoint(with: Self.withoutAPI.keys))
        #expect(calls.isSuperset(of: Self.withoutStore.keys) && store.isDisjoint(with: Self.withoutStore.keys))
    }

    /// The files of the folders that group features, and the folders that are one feature.
    private static func storeFeatures() throws -> Set<String> {
        let groups = ["Accounts", "Chat", "Integrations", "Operation"]
        let folders = try names(in: "Sources/Store", isFolder: true).filter { !groups.contains($0) && $0 != "sql" }
        let files = try groups.flatMap { try names(in: "Sources/Store/" + $0, isFolder: false) }
        return Set(folders + files)
    }

    /// The files with the calls of clients, of administrators, and of the limits that the database keeps.
    private static func apiFeatures() throws -> Set<String> {
        let calls = try ["Accounts", "Chat", "Integrations"].flatMap {
            try names(in: "Sources/API/" + $0, isFolder: false)
        }
        let others = [
            "Attachments/Attachments", "Limits/RateLimits", "Operation/Admin", "Operation/AdminKeys",
            "Operation/Archives+importing", "Operation/Outbox", "Sync/Sync",
        ]
        .map { root.appending(path: "Sources/API/\($0).swift") }
        .filter { FileManager.default.fileExists(atPath: $0.path) }
        .map { String($0.deletingPathExtension().lastPathComponent.prefix { $0 != "+" }) }
        return Set(calls + others)
    }

    /// Names without their extensions, and without the part after a `+`.
    private static func names(in folder: String, isFolder: Bool) throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: [.isDirectoryKey])
        let names = try files.filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == isFolder }
            .map { $0.deletingPathExtension().lastPathComponent }
        return Set(names.map { String($0.prefix { $0 != "+" }) }).sorted()
    }

    /// `thread_settings` is called `ThreadSettings` in Swift.
    private static func camelCase(_ name: String) -> String {
        name.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
