// The verdict on each service's answers, and that docs/push.md says the same.
import Domain
import Foundation
import Outbound
import TestSupport
import Testing

@testable import Push

@Suite("Judging answers", .timeLimit(.minutes(1)))
struct JudgingAnswers {
    private let alert = PushAlert.make(.phone)

    private func answer(
        _ status: Int, _ body: String = "", _ headers: [String: String] = [:]
    ) -> Result<TransferAnswer, TransferFailure> {
        .success(TransferAnswer(status: status, headers: headers, body: Array(body.utf8)))
    }

    private func apns(_ status: Int, _ body: String = "", _ alert: PushAlert? = nil) throws -> PushVerdict {
        try APNs.make().verdict(answer(status, body), alert ?? self.alert, now: PushAlert.now)
    }

    @Test("decides by APNs' reason, whatever the status")
    func reasons() throws {
        #expect(try apns(200) == .accepted)
        #expect(try apns(400, #"{"reason":"BadDeviceToken"}"#) == .forget(reason: "BadDeviceToken"))
        #expect(try apns(400, #"{"reason":"IdleTimeout"}"#) == .retry(after: nil, reason: "IdleTimeout"))
        #expect(try apns(403, #"{"reason":"ExpiredProviderToken"}"#) == .renew(reason: "ExpiredProviderToken"))
        #expect(try apns(403, #"{"reason":"InvalidProviderToken"}"#) == .halt(reason: "InvalidProviderToken"))
        #expect(try apns(413, #"{"reason":"PayloadTooLarge"}"#) == .drop(reason: "PayloadTooLarge"))
        #expect(
            try apns(429, #"{"reason":"TooManyProviderTokenUpdates"}"#)
                == .retry(after: nil, reason: "TooManyProviderTokenUpdates"))
        #expect(try apns(503, "<html>") == .retry(after: nil, reason: "5xx"))
        #expect(try apns(418, #"{"reason":"News"}"#) == .drop(reason: "other"))
    }

    @Test("forgets a token only if it was registered before APNs found it gone")
    func older() throws {
        func gone(_ atMs: Int) throws -> PushVerdict {
            try apns(410, #"{"reason":"Unregistered","timestamp":\#(atMs)}"#)
        }
        #expect(try gone(alert.registeredAtMs + 1) == .forget(reason: "Unregistered"))
        #expect(try gone(alert.registeredAtMs) == .retry(after: nil, reason: "Unregistered"))
        #expect(try gone(alert.registeredAtMs - 1) == .retry(after: nil, reason: "Unregistered"))
        #expect(try apns(410, #"{"reason":"ExpiredToken"}"#) == .forget(reason: "ExpiredToken"))
        #expect(try apns(410) == .forget(reason: "410"))
    }

    @Test("never stops other devices' alerts because of the topic, environment or token of one device")
    func hostileDevices() throws {
        let named = PushAlert.make(.apns(token: "aa", environment: .development, topic: "org.example.mine"))
        let (reasons, statuses) = (APNs.answers.compactMap(\.reason), [400, 403, 404, 405, 410, 413, 429, 500, 503])
        // Only the server's own token and account can cause these.
        let ours: Set = [
            "InvalidProviderToken", "MissingProviderToken", "BadCertificate", "BadCertificateEnvironment", "Forbidden",
        ]
        for reason in reasons where !ours.contains(reason) {
            for status in statuses {
                if case .halt = try apns(status, #"{"reason":"\#(reason)"}"#, named) { Issue.record("\(reason)") }
            }
        }
        #expect(try apns(400, #"{"reason":"TopicDisallowed"}"#, named) == .drop(reason: "TopicDisallowed"))
        #expect(try apns(400, #"{"reason":"TopicDisallowed"}"#) == .halt(reason: "TopicDisallowed"))
        #expect(try apns(400, #"{"reason":"DeviceTokenNotForTopic"}"#) == .drop(reason: "DeviceTokenNotForTopic"))
        #expect(WebPush.answers.allSatisfy { $0.action != .halt && $0.action != .renew })
    }

    @Test("never delays other devices' alerts because of an answer about one device")
    func patience() throws {
        for reason in PushVerdict.reasonsOfOneDevice {
            let rule = try #require(APNs.answers.first { $0.name == reason })
            let verdict = rule.verdict(AnswerFacts(isOlder: false), retryAfter: nil)
            #expect(verdict == .retry(after: nil, reason: reason))
            #expect(verdict.showsLife)
        }
        #expect(try !apns(503, #"{"reason":"Shutdown"}"#).showsLife)
        #expect(!PushVerdict(.timedOut).showsLife)
        #expect(try apns(200).showsLife)
    }

    @Test(
        "decides by FCM's error code, then by its status",
        arguments: [
            (200, "", PushVerdict.accepted),
            (404, fcm("NOT_FOUND", code: "UNREGISTERED"), .forget(reason: "UNREGISTERED")),
            (404, fcm("UNREGISTERED"), .forget(reason: "UNREGISTERED")),
            (404, fcm("NOT_FOUND"), .drop(reason: "NOT_FOUND")),
            (403, fcm("PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"), .forget(reason: "SENDER_ID_MISMATCH")),
            (403, fcm("PERMISSION_DENIED"), .halt(reason: "PERMISSION_DENIED")),
            (401, fcm("UNAUTHENTICATED"), .renew(reason: "UNAUTHENTICATED")),
            (401, "", .renew(reason: "401")),
            (
                401, fcm("UNAUTHENTICATED", code: "THIRD_PARTY_AUTH_ERROR"),
                .drop(reason: "THIRD_PARTY_AUTH_ERROR")
            ),
            (400, fcm("INVALID_ARGUMENT", code: "INVALID_ARGUMENT"), .drop(reason: "INVALID_ARGUMENT")),
            (
                400,
                fcm(
                    "INVALID_ARGUMENT", code: "INVALID_ARGUMENT",
                    message: "The registration token is not a valid FCM registration token"),
                .forget(reason: "INVALID_ARGUMENT (token)")
            ),
            (400, fcmField("message.token"), .forget(reason: "INVALID_ARGUMENT (token)")),
            (400, fcmField("message.data[0].value"), .drop(reason: "INVALID_ARGUMENT")),
            (
                429, fcm("RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED"),
                .retry(after: .seconds(60), reason: "QUOTA_EXCEEDED")
            ),
            (500, fcm("INTERNAL", code: "INTERNAL"), .retry(after: .seconds(60), reason: "INTERNAL")),
            (503, "", .retry(after: .seconds(60), reason: "5xx")),
        ])
    func fcmReasons(_ status: Int, _ body: String, _ verdict: PushVerdict) throws {
        let fcm = try FCM(account: testAccount(), url: nil)
        let answer = answer(status, body, ["retry-after": "60"])
        #expect(fcm.verdict(answer, .make(.android), now: PushAlert.now) == verdict)
    }

    private static func fcm(_ status: String, code: String? = nil, message: String = "No.") -> String {
        let type = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
        let details = code.map { #",{"@type":"\#(type)","errorCode":"\#($0)"}"# } ?? ""
        let help = #"{"@type":"type.googleapis.com/google.rpc.Help","links":[]}"#
        return #"{"error":{"code":0,"message":"\#(message)","status":"\#(status)","details":[\#(help)\#(details)]}}"#
    }

    private static func fcmField(_ name: String) -> String {
        let violation = #"{"field":"\#(name)","description":"registration token"}"#
        return """
            {"error":{"code":400,"message":"Invalid value","status":"INVALID_ARGUMENT","details":[{"@type":\
            "type.googleapis.com/google.rpc.BadRequest","fieldViolations":[\(violation)]}]}}
            """
    }

    @Test("decides by the status of push services")
    func statuses() {
        let webPush = WebPush(keys: .make(), subject: "mailto:a@b.example")
        func verdict(_ status: Int, _ headers: [String: String] = [:]) -> PushVerdict {
            webPush.verdict(answer(status, "no", headers), alert, now: PushAlert.now)
        }
        for status in [200, 201, 202, 204] { #expect(verdict(status) == .accepted) }
        for status in [404, 410] { #expect(verdict(status) == .forget(reason: "\(status)")) }
        #expect(verdict(429, ["retry-after": "120"]) == .retry(after: .seconds(120), reason: "429"))
        #expect(verdict(502) == .retry(after: nil, reason: "5xx"))
        for status in [301, 400, 401, 403, 413, 451, 100, 999] {
            if case .drop = verdict(status) { continue }
            Issue.record("\(status)")
        }
    }

    @Test(
        "reads when to retry, in seconds or as a date, and never waits longer than a day",
        arguments: [
            ("0", 0), ("7", 7), (" 7 ", 7), ("99999999999999999999", 86_400), ("-1", nil), ("soon", nil), ("", nil),
            ("Sun, 22 Nov 2026 00:01:00 GMT", 60), ("Sat, 21 Nov 2026 00:00:00 GMT", 0),
            ("Sun, 22 Nov 2126 00:00:00 GMT", 86_400), ("Sun, 31 Feb 2026 00:00:00 GMT", nil),
            ("Sun, 22 Nov 2026 00:01:00 CET", nil),
        ])
    func retryAfter(_ text: String, _ seconds: Int?) {
        let answer = TransferAnswer(status: 503, headers: ["retry-after": text])
        #expect(answer.retryAfter(now: 1_795_305_600) == seconds.map { .seconds($0) })
    }

    @Test("retries requests without an answer")
    func failures() throws {
        let failures: [(TransferFailure, String)] = [
            (.failed(reason: "refused"), "connection"), (.timedOut, "timeout"), (.overloaded, "overloaded"),
            (.closed, "closed"),
        ]
        for (failure, reason) in failures {
            let verdict = PushVerdict.retry(after: nil, reason: reason)
            #expect(try APNs.make().verdict(.failure(failure), alert, now: 0) == verdict)
            #expect(WebPush(keys: .make(), subject: "").verdict(.failure(failure), alert, now: 0) == verdict)
        }
    }

    @Test("drops alerts whose URL leads to no public address")
    func forbidden() {
        let verdict = WebPush(keys: .make(), subject: "").verdict(.failure(.forbidden(reason: "x")), alert, now: 0)
        #expect(verdict == .drop(reason: "address"))
    }

    @Test("has a row for every answer, each reachable, each with its own name")
    func tables() {
        for table in [APNs.answers, FCM.answers, WebPush.answers] {
            #expect(table.last?.name == "other")
            #expect(Set(table.map(\.name)).count == table.count)
            for rule in table {
                let status = if case .status(let range) = rule.match { range.upperBound } else { 999 }
                #expect(table.row(status: status, reason: rule.reason).name == rule.name)
            }
        }
    }

    @Test("agrees with docs/push.md, which `make docs` updates", arguments: ["apns", "fcm", "webpush"])
    func documentation(_ name: String) throws {
        let tables = ["apns": APNs.answers, "fcm": FCM.answers, "webpush": WebPush.answers]
        let table = try #require(tables[name])
        let rows = table.map { [$0.shown, $0.action.rawValue, $0.why] }
        try GeneratedText.check(
            "docs/push.md", name, is: GeneratedText.table(["answer", "what Parley does", "because"], rows))
    }
}

extension PushRule {
    fileprivate var shown: String {
        switch match {
        case .reason(let text): "`\(text)`"
        case .status: name
        case .anything: "anything else"
        }
    }
}
