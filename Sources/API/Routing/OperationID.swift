// The names of the API's calls, as in openapi.yaml. Requests are counted and logged by them.

/// The `operationId` of a call in openapi.yaml, and two names for requests that are no calls.
package enum OperationID: UInt8, CaseIterable, Sendable {
    /// Requests for unknown paths, and requests that the transport refused.
    case none
    case register, requestCode, login, setPassword, logout
    case getService
    case listSessions, deleteSession, deleteOtherSessions
    case putPush, deletePush, getWebPushKey
    case getOwnAccount, updateOwnAccount, eraseOwnAccount, exportOwnAccount, changePassword, putEmail, confirmEmail,
        deleteEmail
    case searchUsers, getUser
    case putBlock, deleteBlock, listBlocks
    case createThread, getThread, updateThread, joinRoom, searchRooms
    case listMembers, putMember, deleteMember
    case updateSettings
    case sendMessage, listMessages, getMessage, editMessage, listEdits, deleteMessage
    case putReaction, deleteReaction, listReactions
    case putReceipt, putReceipts, listReceipts, putUnread, putTyping
    case getInbox
    case searchMessages
    case sync
    case putAttachment, createAttachment, getUpload, appendUpload, deleteAttachment
    case getAttachment, getThumbnail, putThumbnail, getAttachmentInfo, linkAttachment, receiveAttachment, setMediaCookie
    case adminCreateKey, adminListKeys, adminDeleteKey
    case adminCreateUser, adminListUsers, adminGetUser, adminEraseUser, adminSuspendUser, adminUnsuspendUser
    case adminPutUser, adminGetUnread
    case adminCreateThread, adminListThreads, adminPutThread, adminUpdateThread, adminDeleteThread
    case adminListMembers, adminPutMember, adminDeleteMember
    case adminSendMessage, adminListMessages, adminGetMessage, adminEditMessage
    case adminCreateSession, adminResetPassword, adminGetThread, adminDeleteMessage, adminGetStats, adminListAudit
    case adminListChanges, adminAckChanges, adminListConsumers, adminGetConsumer, adminPutConsumer, adminDeleteConsumer
    case adminCreateWebhook, adminListWebhooks, adminGetWebhook, adminUpdateWebhook, adminDeleteWebhook
    case adminRotateWebhook, adminTestWebhook, adminReplayWebhook, adminListWebhookDeliveries
    case adminCreateInvitation, adminListInvitations, adminDeleteInvitation
    case adminCreateHook, adminListHooks, adminDeleteHook, postToHook
    case adminCreateCommand, adminListCommands, adminGetCommand, adminUpdateCommand, adminDeleteCommand
    case adminRotateCommand, listCommands
    case createReport, adminListReports, adminUpdateReport
    case adminCreateHold, adminListHolds, adminGetHold, adminReleaseHold, adminListHoldContents, adminExportHold
    case adminGetExportKey
    case adminListReviews, adminDecideReview
    case adminImport
    case adminListOutboxFailures, adminRetryOutboxFailure, adminDeleteOutboxFailure
    case adminExport
    case getLiveness, getReadiness, getMetrics, getOpenAPI
    /// Files of the web client, which are not in openapi.yaml.
    case getWebClient
}
