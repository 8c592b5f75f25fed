// Transfers to a real SMTP server, and to one that misbehaves.
import Foundation
import TestSupport
import Testing

@testable import Outbound

@Suite("Handing mail to a relay", .timeLimit(.minutes(1)))
struct HandingOverMail {
    let relay: TestRelay

    init() async throws { relay = try await TestRelay.shared() }

    private func client(trusting: Bool = true, inFlightMax: Int = 4, waitingCountMax: Int = 8) throws -> Outbound {
        try Outbound(
            caFile: trusting ? relay.certificate : nil, inFlightMax: inFlightMax, waitingCountMax: waitingCountMax)
    }

    private var startTLS: MailRelay {
        MailRelay(
            host: "127.0.0.1", port: relay.ports.startTLS, security: .startTLS, user: TestRelay.credentials.user,
            password: TestRelay.credentials.password)
    }

    private func transfer(
        to address: String, by relay: MailRelay? = nil, content: String = "Subject: x\r\n\r\nHello\r\n",
        timeMax: Duration = .seconds(10)
    ) -> Transfer {
        var transfer = Transfer(
            .mail(
                MailDelivery(
                    relay: relay ?? startTLS, sender: "chat@a.example", recipient: address, content: Array(content.utf8)
                )))
        transfer.timeMax = timeMax
        return transfer
    }

    private func unique(_ kind: String) -> String { "\(kind)-\(UInt64.random(in: 0...UInt64.max))@b.example" }

    /// Returns the failure, or nil after success.
    private func failure(_ client: Outbound, _ transfer: Transfer) async -> TransferFailure? {
        do {
            _ = try await client.perform(transfer)
            return nil
        } catch {
            return error
        }
    }

    @Test("speaks STARTTLS with a trusted certificate, signs in, and hands over every byte")
    func startTLSConversation() async throws {
        let address = unique("ann")
        let content = "Subject: x\r\n\r\n.a point\r\n..\r\n.\r\n" + String(repeating: "long line\r\n", count: 20_000)
        let client = try client()
        let answer = try await client.perform(transfer(to: address, content: content))
        #expect(answer == TransferAnswer(status: 250))
        let mail = try await relay.mail(to: address)
        #expect(mail.tls && mail.login == "parley" && mail.sender == "chat@a.example")
        #expect(mail.content == content)
    }

    @Test("speaks TLS from the first byte, or plain SMTP, as configured")
    func otherConversations() async throws {
        let (first, second) = (unique("ann"), unique("ann"))
        let client = try client()
        let tls = MailRelay(host: "127.0.0.1", port: relay.ports.tls, security: .tls)
        _ = try await client.perform(transfer(to: first, by: tls))
        #expect(try await relay.mail(to: first).tls)
        for security in [MailRelay.Security.none, .startTLSIfOffered] {
            let plain = MailRelay(host: "127.0.0.1", port: relay.ports.plain, security: security)
            _ = try await client.perform(transfer(to: second, by: plain))
        }
        #expect(try await !relay.mail(to: second, count: 2).tls)
    }

    @Test("sends no mail to an untrusted server, without STARTTLS, or with a wrong password")
    func untrusted() async throws {
        let address = unique("ann")
        let untrusting = try client(trusting: false)
        for security in [MailRelay.Security.startTLS, .startTLSIfOffered] {
            var relay = startTLS
            relay.security = security
            let failure = await failure(untrusting, transfer(to: address, by: relay))
            #expect("\(failure.map(String.init) ?? "")".contains("certificate"))
        }
        let plain = MailRelay(host: "127.0.0.1", port: relay.ports.plain, security: .startTLS)
        #expect(await failure(try client(), transfer(to: address, by: plain)).map(isFailed) == true)
        var wrong = startTLS
        wrong.password = "wrong"
        #expect(await failure(try client(), transfer(to: address, by: wrong)).map(isFailed) == true)
        var nowhere = startTLS
        nowhere.port = 1
        #expect(await failure(try client(), transfer(to: address, by: nowhere)).map(isFailed) == true)
        #expect(try relay.attempts(to: address) == 0)
    }

    private func isFailed(_ failure: TransferFailure) -> Bool { if case .failed = failure { true } else { false } }

    @Test(
        "distinguishes temporary and permanent refusals of a mail from a broken connection",
        arguments: [("busy", 450), ("gone", 550), ("spam", 554), ("shut", 421), ("drop", 0)])
    func noes(kind: String, status: Int) async throws {
        let client = try client()
        let address = unique(kind)
        switch await failure(client, transfer(to: address)) {
        case .refused(let given, _): #expect(given == status)
        case .failed: #expect(status == 0)
        case let other: Issue.record("\(String(describing: other))")
        }
        // The next mail is not affected.
        let next = unique("ann")
        _ = try await client.perform(transfer(to: next))
        #expect(try relay.mails(to: next).count == 1)
    }

    @Test("cancels a mail that takes too long, while others continue, and refuses mails beyond the queue's limit")
    func timesOut() async throws {
        // This mail hangs until its client is closed, after the other was handed over.
        let (shared, hanging) = (try client(), unique("hang"))
        async let endless = failure(shared, transfer(to: hanging, timeMax: .seconds(86_400)))
        try await eventually("the mail hangs") { try relay.attempts(to: hanging) == 1 }
        _ = try await shared.perform(transfer(to: unique("ann")))
        shared.close(within: .zero)
        #expect(await endless == .closed)

        let client = try client(inFlightMax: 2, waitingCountMax: 2)
        var began = ContinuousClock.now
        #expect(await failure(client, transfer(to: unique("hang"), timeMax: .milliseconds(500))) == .timedOut)
        #expect(began.duration(to: .now) >= .milliseconds(500))

        began = .now
        let failures = await withTaskGroup(of: TransferFailure?.self) { group in
            for _ in 0..<8 {
                let address = unique("hang")
                group.addTask { await failure(client, transfer(to: address, timeMax: .milliseconds(500))) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // Two under way and two in line, or only those in line if the thread is late.
        #expect((2...4).contains(failures.count { $0 == .timedOut }))
        // No mail waits for QUIT's answer from a silent server, which libcurl would do for ten seconds.
        #expect(began.duration(to: .now) < .seconds(10))
        #expect(failures.count { $0 == .overloaded } == 8 - failures.count { $0 == .timedOut })
    }

    @Test("never hands over a part of a mail as a whole one")
    func breaksOff() async throws {
        let client = try client()
        var whole = unique("ann")
        let next = unique("ann")
        // The relay, in Python, reads this line by line for about a second.
        let content = String(repeating: "a line\r\n", count: 2_000_000)
        // An attempt that did not reach the content in that time proves nothing.
        for milliseconds in [400, 800, 1_600, 3_200, 6_400] where try relay.attempts(to: whole) == 0 {
            whole = unique("ann")
            let transfer = transfer(to: whole, content: content, timeMax: .milliseconds(milliseconds))
            #expect(await failure(client, transfer) == .timedOut)
        }
        _ = try await client.perform(transfer(to: next))
        #expect(try relay.attempts(to: whole) == 1 && relay.mails(to: whole).isEmpty)
    }

    @Test("ends all mails when it is closed, and lets one that is nearly done complete")
    func closes() async throws {
        let client = try client()
        let slow = unique("slow")
        async let ending = failure(client, transfer(to: slow))
        try await eventually("the slow mail is offered") { try relay.attempts(to: slow) > 0 }
        async let hanging = failure(client, transfer(to: unique("hang")))
        client.close(within: .seconds(4))
        #expect(await failure(client, transfer(to: unique("ann"))) == .closed)
        #expect(await ending == nil)
        #expect(await hanging == .closed)
        #expect(try relay.mails(to: slow).count == 1)
    }
}
