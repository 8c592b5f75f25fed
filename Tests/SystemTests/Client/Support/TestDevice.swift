// A device with the client library, and the people of most tests: Ann has such a device, Ben calls the server by hand.

import Foundation
import Parley
import TestSupport
import Testing

/// A client with a store in a directory, behind a network that a test can break.
final class TestDevice: Sendable {
    let parley: ParleyClient
    let wire: Wire
    let directory: TemporaryDirectory
    private let server: Address

    init(_ server: Address, in directory: TemporaryDirectory? = nil, isCut: Bool = false) throws {
        self.server = server
        self.directory = try directory ?? TemporaryDirectory()
        wire = Wire(isCut: isCut)
        parley = try ParleyClient(Self.configuration(server, self.directory.path + "/store", wire))
    }

    static func configuration(_ server: Address, _ store: String, _ wire: Wire) throws -> ParleyClient.Configuration {
        guard let url = URL(string: server.description) else { throw TimedOut(description: "\(server)") }
        return .init(server: url, store: .file(directory: URL(filePath: store)), deviceName: "test", transport: wire)
    }

    /// A device on which this person is signed in.
    static func signedIn(_ person: Person, at server: Address) async throws -> TestDevice {
        let device = try TestDevice(server)
        try await device.signIn(person)
        return device
    }

    func signIn(_ person: Person) async throws {
        try await parley.signIn(.password(username: person.username, password: person.password))
        try await waitUntilLive()
    }

    func waitUntilLive(within limit: Duration = .seconds(30)) async throws {
        try await parley.status.wait("live", within: limit) { $0 == .live }
    }

    /// Cuts the network and waits until the client knows.
    func goOffline() async throws {
        wire.cut()
        try await parley.status.wait("offline") { if case .offline = $0 { true } else { false } }
    }

    func goOnline() async throws {
        wire.mend()
        parley.retryNow()
        try await waitUntilLive()
    }

    /// Ends the client, and starts another one with the same store, as when the app is restarted.
    func restarted(isCut: Bool = false) async throws -> TestDevice {
        await parley.close()
        return try TestDevice(server, in: directory, isCut: isCut)
    }
}

/// Ann and Ben in a direct thread. Ann's device runs the library.
struct AnnAndBen: Sendable {
    let server: Connection
    let ann: Person
    let ben: Person
    let device: TestDevice
    let thread: ChatThread

    var parley: ParleyClient { device.parley }
    var wire: Wire { device.wire }
    var id: String { thread.id.rawValue }

    static func meet(at address: Address? = nil) async throws -> AnnAndBen {
        let address = if let address { address } else { try await TestNodes.shared().a.address }
        let server = Connection(address)
        let (ann, ben) = (try await server.register("Ann"), try await server.register("Ben"))
        let thread = try await server.thread("direct", by: ann, with: [ben])
        let device = try await TestDevice.signedIn(ann, at: address)
        return AnnAndBen(
            server: server, ann: ann, ben: ben, device: device, thread: device.parley.thread(ThreadID(thread)))
    }

    @discardableResult
    func benSays(_ text: String) async throws -> MessageID {
        MessageID(try await server.sent(text, in: id, as: ben))
    }

    func benSays(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers { try await benSays("\(number)") }
    }

    /// The texts that the server has.
    func storedTexts(in thread: String? = nil, as reader: Person? = nil) async throws -> [String] {
        try await server.history(of: thread ?? id, as: reader ?? ann).compactMap { $0["payload"]["text"].string }
    }

    /// The total of unread messages that the server has for Ann.
    func serverUnread() async throws -> Int? {
        try await server.get("/v1/inbox", as: ann).json["unread_total"].int
    }
}
