// The client's store and its life: one client a directory, full disks, rest and background, expired cursors.

import Foundation
import Parley
import TestSupport
import Testing

extension SystemTests {
    @Suite("The client's store", .timeLimit(.minutes(3)))
    struct ClientStores {
        @Test("a second client on the same directory is refused, until the first one closes")
        func storeInUse() async throws {
            let server = try await TestNodes.shared().a.address
            let device = try TestDevice(server)
            let refusal = #expect(throws: ParleyError.self) { try TestDevice(server, in: device.directory) }
            #expect(refusal == .storeInUse(path: device.directory.path + "/store"))
            let inbox = Shown(device.parley.inbox())
            await device.parley.close()
            try await inbox.waitForEnd()
            await #expect(throws: ParleyError.closed) { try await device.parley.thread("x").draft }
            let next = try TestDevice(server, in: device.directory)
            await next.parley.close()
        }

        @Test("a client of another process is refused, too, and a killed process leaves no lock")
        func otherProcess() async throws {
            let server = try await TestNodes.shared().a.address
            let directory = try TemporaryDirectory()
            let store = directory.path + "/store"
            try await TestDevice(server, in: directory).parley.close()
            let lock = ["/usr/bin/flock", "--no-fork", store + "/lock", "/bin/sleep", "60"]
            let process = try await TestProcess.start(lock)
            try await eventually("the refusal") { () -> Bool? in
                do {
                    let device = try TestDevice(server, in: directory)
                    await device.parley.close()
                    return nil
                } catch let error as ParleyError where error.kind == .storeInUse {
                    return true
                }
            }
            process.send(SIGKILL)
            try await process.waitForExit()
            try await TestDevice(server, in: directory).parley.close()
        }

        @Test(
            "a full disk: writes throw storeFailed, lists stay, and everything goes on when there is space",
            .enabled(if: SmallDisk.isPermitted, "no small disk can be mounted: this requires root and CAP_SYS_ADMIN"))
        func diskFull() async throws {
            let pair = try await AnnAndBen.meet()
            let directory = try TemporaryDirectory()
            let disk = try SmallDisk.mount(at: directory.path + "/disk", byteCount: 2 << 20, account: nil)
            defer { disk.unmount() }
            let configuration = try TestDevice.configuration(
                try await TestNodes.shared().a.address, disk.directory + "/store", Wire())
            let parley = try ParleyClient(configuration)
            try await parley.signIn(.password(username: pair.ann.username, password: pair.ann.password))
            try await parley.status.wait("live") { $0 == .live }
            let thread = parley.thread(pair.thread.id)
            let shown = Shown(thread.timeline())
            try await pair.benSays("1")
            try await shown.wait("the message") { $0.last?.text == "1" }

            try disk.fill()
            let refusal = await #expect(throws: ParleyError.self) {
                for _ in 0..<100 { try await thread.setDraft(String(repeating: "draft ", count: 10_000)) }
            }
            #expect(refusal?.kind == .storeFailed)
            for number in 2...40 { try await pair.benSays(String(repeating: "\(number) ", count: 2_000)) }
            try await parley.status.wait("offline") { if case .offline = $0 { true } else { false } }
            #expect(shown.texts.contains("1"))

            disk.free()
            try await pair.benSays("The end")
            try await shown.wait("the last message") { $0.last?.text == "The end" }
            try await parley.status.wait("live") { $0 == .live }
            try await thread.send(.text("Sent"))
            try await shown.wait("the sent message") { $0.last?.text == "Sent" }
            await parley.close()
        }

        @Test("a suspended client makes no call, catches up in the background, and continues when it is resumed")
        func suspends() async throws {
            let pair = try await AnnAndBen.meet()
            let tablet = try await TestDevice.signedIn(pair.ann, at: try await TestNodes.shared().a.address)
            let own = try await pair.server.thread("group", by: pair.ann, with: [])
            await pair.parley.suspend()
            #expect(pair.parley.currentStatus == .suspended)
            let polls = pair.wire.sent("GET", "/sync").count
            try await pair.benSays("1")
            try await pair.thread.send(.text("2"))
            // Ann's other device receives the message and sends one, which the suspended one had the time to do, too.
            try await tablet.parley.thread(ThreadID(pair.id)).summary.wait("1") { $0?.thread.lastMessage?.text == "1" }
            try await tablet.parley.thread(ThreadID(own)).send(.text("from the tablet"))
            try await eventually("the other device's message") {
                try await pair.storedTexts(in: own) == ["from the tablet"]
            }
            #expect(pair.wire.sent("GET", "/sync").count == polls)
            #expect(try await pair.storedTexts() == ["1"])

            try await pair.parley.catchUp()
            #expect(pair.parley.currentStatus == .suspended)
            #expect(try await pair.storedTexts() == ["1", "2"])
            #expect(try await pair.thread.summary.current?.thread.lastMessage?.text == "2")
            pair.wire.cut()
            await #expect(throws: ParleyError.self) { try await pair.parley.catchUp(within: .seconds(0.2)) }
            pair.wire.mend()

            await pair.parley.resume()
            try await pair.device.waitUntilLive()
            try await pair.benSays("3")
            try await pair.thread.summary.wait("the message") { $0?.thread.lastMessage?.text == "3" }
        }

        @Test("resume wins over an earlier suspend and over the end of a background refresh")
        func resumesAtOnce() async throws {
            let pair = try await AnnAndBen.meet()
            for _ in 0..<20 {
                async let resting: Void = pair.parley.suspend()
                await Task.yield()
                await pair.parley.resume()
                await resting
                await pair.parley.resume()
            }
            try await pair.device.waitUntilLive()

            await pair.parley.suspend()
            pair.wire.meet("GET", "/sync", with: .holdAnswer)
            async let refreshing: Void = pair.parley.catchUp()
            try await eventually("the poll held") { pair.parley.currentStatus == .connecting }
            await pair.parley.resume()
            pair.wire.release()
            try await refreshing
            try await pair.device.waitUntilLive()
            try await pair.benSays("1")
            try await pair.thread.summary.wait("the message") { $0?.thread.lastMessage?.text == "1" }
        }

        @Test("an expired cursor: the client reloads, and an open timeline shows no gap")
        func cursorExpired() async throws {
            let pair = try await AnnAndBen.meet()
            let timeline = Shown(pair.thread.timeline())
            try await pair.benSays(1...60)
            try await timeline.wait(for: (1...60).map(String.init))
            try await pair.thread.setDraft("Draft")
            try await pair.device.goOffline()
            try await pair.benSays(61...65)
            let before = timeline.states.count
            let refusal = HTTPResponse.refusal(
                410, "cursor_expired", ["cursor": "x", "threads": [["id": .string(pair.id), "head": 65]]])
            pair.wire.meet("GET", "/sync", with: .answer(refusal))
            try await pair.device.goOnline()
            try await timeline.wait(for: (1...65).map(String.init))
            let shown = timeline.states[before...]
            #expect(shown.allSatisfy { $0.count >= 60 && $0.first?.text == "1" }, "\(shown.map { $0.map(\.text) })")
            #expect(try await pair.thread.draft == "Draft")
            try await pair.parley.unreadTotal.wait("all unread") { $0 == 65 }
        }
    }
}
