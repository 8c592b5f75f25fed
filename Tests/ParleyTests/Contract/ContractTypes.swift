// Which Swift type reads which schema of docs/openapi.yaml.

import Foundation

@testable import Parley

/// A type that reads a schema.
struct ContractType: Sendable, CustomStringConvertible {
    let schema: String
    /// Decodes a document.
    let decode: @Sendable (JSONValue) throws -> any (Codable & Sendable)
    let description: String

    private init<Value: Codable & Sendable>(_ schema: String, _: Value.Type) {
        self.schema = schema
        description = "\(schema) by \(Value.self)"
        decode = { try JSONDecoder().decode(Value.self, from: $0.data) }
    }

    /// Decodes a document and encodes the value.
    func roundTrip(_ document: JSONValue) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(decode(document)))
    }

    static let all: [Self] = [
        .init("Account", Account.self), .init("ApnsTarget", PushTarget.self), .init("Attachment", Attachment.self),
        .init("Block", Block.self), .init("BlockList", BlockPage.self), .init("CommandOffer", CommandList.self),
        .init("Edit", MessageVersion.self), .init("EditList", EditPage.self),
        .init("EncryptedPayload", EncryptedPayload.self), .init("FcmTarget", PushTarget.self),
        .init("FieldProblem", Problem.Field.self), .init("Inbox", InboxPage.self), .init("Link", AttachmentLink.self),
        .init("LocationPayload", LocationPayload.self), .init("Member", Member.self),
        .init("MemberList", MemberPage.self), .init("Message", Message.self),
        .init("MessageAttachment", Attachment.self), .init("MessagePage", MessagePage.self),
        .init("NewSession", Session.self), .init("OfferedCommand", CommandList.Command.self),
        .init("OwnMembership", OwnMembership.self),
        .init("Person", SystemPayload.Person.self), .init("Preferences", Preferences.self),
        .init("PublicThread", PublicThread.self), .init("Reaction", Reaction.self), .init("Receipt", Receipt.self),
        .init("ReceiptList", ReceiptPage.self), .init("Report", Report.self), .init("RoomList", RoomPage.self),
        .init("SearchResult", SearchHit.self),
        .init("SearchResults", SearchPage.self), .init("Sender", Sender.self), .init("Service", ServiceInfo.self),
        .init("ServiceLimits", ServiceInfo.Limits.self), .init("ServicePush", ServiceInfo.Push.self),
        .init("Session", Session.self),
        .init("SessionList", SessionPage.self), .init("SignedIn", SignedIn.self), .init("SyncPage", SyncPage.self),
        .init("SystemPayload", SystemPayload.self), .init("TextPayload", TextPayload.self),
        .init("Thread", ThreadSummary.self), .init("ThreadHead", CursorExpired.ThreadHead.self),
        .init("ThreadSettings", ThreadSettings.self), .init("TimedRetention", Retention.self),
        .init("UntimedRetention", Retention.self), .init("User", User.self), .init("UserList", UserPage.self),
        .init("WebPushKey", WebPushKey.self), .init("WebPushTarget", PushTarget.self),
    ]

    /// Schemas that no Swift type reads, and why.
    static let leftOut: [String: Set<String>] = [
        "values without members": [
            "AccountKind", "AttachmentImage", "AttachmentState", "Bytes", "ChangeType",
            "CommandDescription", "CommandWord",
            "ConsumerName", "CurrentStatus", "Cursor", "DeviceName", "DisplayName", "Document", "EmailAddress",
            "EventID", "EventStream", "HistoryBound", "ImageReference", "ImageURL", "InvitationCode", "KeptSeconds",
            "Lines",
            "CustomOrNull", "ExternalIDOrNull", "Label", "Labels", "LabelsOrNull", "MessageAttachments",
            "Next", "NotifyLevel", "Partial", "Password", "PasswordCode", "Presence", "ProblemCode", "ReportState",
            "ReviewState",
            "Role", "Seq", "SeqOrNull",
            "StatusText", "StructuredBoolean", "ThreadKind", "Time", "TimeOrNull", "Title", "Topic", "Username",
        ],
        "a choice of schemas, or a part of others": [
            "List", "Login", "NewPassword", "OtherPayload", "Payload", "PushTarget", "Registration", "ReportDraft",
            "Retention",
            "WebPushKeys",
        ],
        "requests: see the tests of the calls": [
            "AccountChange", "CodeLogin", "CodeRequest", "EmailChange", "EmailConfirmation", "EmailPasswordLogin",
            "EmailRegistration", "LinkRequest", "Marks",
            "MarksOfThreads", "MemberChange", "MessageDraft", "MessageEdit", "MessageReportDraft", "NewPasswordByEmail",
            "NewPasswordByUsername", "PasswordChange",
            "PasswordLogin", "PasswordRegistration", "RoomDraft", "SettingsChange", "ThreadChange", "ThreadDraft",
            "ThreadMarks", "TokenLogin", "UnreadMark", "UserReportDraft",
        ],
        "read by more than one type, see their examples": ["CursorExpired", "Denial", "Event", "Problem"],
        "the document of a problem, or the state of a message on its way": ["PendingMessage"],
        "for operators": [
            "AdminKey", "AdminKeyDraft", "AdminKeyList", "AdminKeyWithToken", "AdminScope", "AdminScopes",
            "AdminMessageDraft", "AdminReport", "AdminReportList", "AdminSessionDraft", "AdminStats", "AdminThread",
            "AdminThreadList", "AdminThreadMember", "AdminThreadPut", "AdminUser", "AdminUserDraft", "AdminUserList",
            "AdminUserPut", "AuditEntry", "AuditList", "Change", "ChangesAck", "ChangesExpiry",
            "ChangesPage", "Consumer", "ConsumerList", "ConsumerStart", "CursorBehind", "Form", "Health",
            "Hook", "HookDraft", "HookList", "HookPost", "Invitation", "InvitationDraft", "InvitationList", "Metrics",
            "NewInvitation",
            "NewHook", "OutboxFailure", "OutboxFailureList", "PasswordReset", "Reference", "ReportChange", "Review",
            "ReviewDecision", "ReviewList", "SlackAttachment", "SlackField", "UnreadTotals",
        ],
        "for operators, of archives": ["ImportCounts", "ImportOmission", "ImportProblem", "ImportReport"],
        "for operators, of legal holds": [
            "ExportKey", "HeldAttachment", "HeldContent", "HeldContentList", "Hold", "HoldDraft", "HoldList",
        ],
        "for operators, of commands": [
            "Command", "CommandChange", "CommandDraft", "CommandList", "CommandWithSecret",
        ],
        "for operators, of webhooks": [
            "Webhook", "WebhookChange", "WebhookDelivery", "WebhookDeliveryList", "WebhookDeliveryState",
            "WebhookDraft", "WebhookList", "WebhookReplay", "WebhookTest", "WebhookTypes", "WebhookURL",
            "WebhookWithSecret",
        ],
    ]
}
