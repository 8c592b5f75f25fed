// Signing in with the client library, and the end of a session.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("Signing in with the client", .timeLimit(.minutes(3)))
    struct ClientSigningIn {
        private func expectSignedOut(_ device: TestDevice) async throws -> Problem? {
            let status = try await device.parley.status.wait("signed out") {
                if case .signedOut = $0 { true } else { false }
            }
            guard case .signedOut(let problem) = status else { return nil }
            return problem
        }

        @Test("a new account is live at once, and a wrong password is refused and changes nothing")
        func registers() async throws {
            let server = try await TestNodes.shared().a.address
            let device = try TestDevice(server)
            #expect(device.parley.currentStatus == .signedOut(nil))
            let name = unique("ann")
            let account = try await device.parley.register(username: name, password: "a river of tea", name: "Ann")
            try await device.waitUntilLive()
            #expect(account.user.username == name)
            #expect(try await device.parley.account.current?.user.name == "Ann")

            let other = try TestDevice(server)
            let refusal = await #expect(throws: ParleyError.self) {
                try await other.parley.signIn(.password(username: name, password: "a river of coffee"))
            }
            #expect(refusal?.code == "wrong_credentials" && other.parley.currentStatus == .signedOut(nil))
            try await other.parley.signIn(.password(username: name, password: "a river of tea"))
            try await other.waitUntilLive()
            #expect(try await other.parley.account.current?.id == account.id)
        }

        @Test("the host app's token and a mailed code sign in, too")
        func otherWays() async throws {
            let (app, relay, directory) = (try HostApp(), try await TestRelay.shared(), try TemporaryDirectory())
            let keys = directory.path + "/jwks.json"
            try Data(HostApp.keySet(app.key()).utf8).write(to: URL(filePath: keys))
            let node = try await Node.start(
                database: try await MigratedDatabase.create(),
                settings: [
                    "PARLEY_JWT_KEYS": keys, "PARLEY_JWT_ISSUER": "app", "PARLEY_JWT_AUDIENCE": "chat",
                    "PARLEY_SMTP_URL": "smtp://127.0.0.1:\(relay.ports.plain)",
                    "PARLEY_MAIL_FROM": "chat@parley.example",
                ])
            let byToken = try TestDevice(node.address)
            let token = try app.token(of: "ann", #","iss":"app","aud":"chat","name":"Ann""#)
            #expect(try await byToken.parley.signIn(.delegated(token: token)).user.name == "Ann")
            try await byToken.waitUntilLive()

            let byMail = try TestDevice(node.address)
            let address = "\(unique("ben"))@mail.example"
            try await byMail.parley.register(email: address, name: "Ben")
            let code = try #require(try await relay.mail(to: address).code)
            #expect(try await byMail.parley.signIn(.code(email: address, code: code)).user.name == "Ben")
            try await byMail.waitUntilLive()
            try await node.stop()
        }

        @Test("a session that another device ends removes the data, and unsent messages wait for the same person")
        func sessionEnded() async throws {
            let pair = try await AnnAndBen.meet()
            let device = pair.device
            try await pair.benSays("Hello")
            let inbox = Shown(device.parley.inbox())
            try await inbox.wait("one unread message") { $0.first?.thread.unreadCount == 1 }
            try await device.goOffline()
            try await pair.thread.send(.text("Unsent"))
            try await pair.thread.setDraft("Draft")

            let other = try await pair.server.logIn(again: pair.ann)
            #expect(try await pair.server.delete("/v1/sessions", as: other).status == 204)
            device.wire.mend()
            device.parley.retryNow()
            #expect(try await expectSignedOut(device)?.code == "invalid_token")
            try await inbox.wait("nothing") { $0.isEmpty }
            #expect(try await device.parley.account.current == nil)
            #expect(!FileManager.default.fileExists(atPath: device.directory.path + "/store/token"))

            try await device.signIn(pair.ann)
            try await eventually("the message sent") {
                try await pair.storedTexts(as: pair.ben) == ["Hello", "Unsent"]
            }
            #expect(try await pair.thread.draft == "Draft")
        }

        @Test("another person on the device sees nothing of the previous one, also after an ended session")
        func anotherPerson() async throws {
            let pair = try await AnnAndBen.meet()
            let device = pair.device
            try await device.goOffline()
            try await pair.thread.send(.text("Ann's secret"), attachments: [.data(Data("s".utf8), name: "secret")])
            try await pair.thread.setDraft("Ann's draft")
            let other = try await pair.server.logIn(again: pair.ann)
            #expect(try await pair.server.delete("/v1/sessions", as: other).status == 204)
            device.wire.mend()
            device.parley.retryNow()
            _ = try await expectSignedOut(device)

            try await device.signIn(pair.ben)
            let row = try #require(try await pair.thread.summary.current)
            #expect(row.draft == nil && row.unsent == .none && row.thread.peer?.id.rawValue == pair.ann.id)
            #expect(try await pair.storedTexts(as: pair.ben) == [])
            try await eventually("no copy of the file") {
                let files = try? FileManager.default.contentsOfDirectory(
                    atPath: device.directory.path + "/store/outbox")
                return files?.isEmpty ?? true
            }
        }

        @Test("signing out ends the session at the server, and deletes everything on the device")
        func signsOut() async throws {
            let pair = try await AnnAndBen.meet()
            try await pair.benSays("Hello")
            let timeline = Shown(pair.thread.timeline())
            try await timeline.wait("the message") { $0.last?.text == "Hello" }
            let sessions = try await pair.parley.call(.sessions.list()).sessions.count
            try await pair.thread.setDraft("Draft")
            await pair.parley.signOut()
            #expect(pair.parley.currentStatus == .signedOut(nil))
            try await timeline.wait(for: [])
            #expect(try await pair.thread.draft == "")
            let left = try await pair.server.get("/v1/sessions", as: pair.ann).json["sessions"].items.count
            #expect(left == sessions - 1)
            await #expect(throws: ParleyError.signedOut) { try await pair.thread.send(.text("Lost")) }
            await #expect(throws: ParleyError.signedOut) { try await pair.parley.catchUp() }
        }
    }
}
