// The names of the API's calls, as openapi.yaml has them: the closed set by which requests are counted and logged.

/// The `operationId` of a call in openapi.yaml.
package enum OperationID: UInt8, CaseIterable, Sendable {
    /// Of requests for what there isn't, and of those that never became one.
    case none
    case register, requestCode, login, logout
    case listSessions, deleteSession, deleteOtherSessions
    case putPush, deletePush, getWebPushKey
    case getOwnAccount, updateOwnAccount, eraseOwnAccount, exportOwnAccount, changePassword, searchUsers, getUser
    case putBlock, deleteBlock, listBlocks
    case createThread, getThread, updateThread, joinRoom, searchRooms
    case listMembers, putMember, deleteMember
    case updateSettings
    case sendMessage, listMessages, getMessage, editMessage, deleteMessage
    case putReaction, deleteReaction
    case putReceipt, putReceipts, listReceipts, putUnread, putTyping
    case getInbox
    case searchMessages
    case sync
    case adminCreateUser, adminListUsers, adminGetUser, adminEraseUser, adminSuspendUser, adminUnsuspendUser
    case adminCreateSession, adminGetThread, adminDeleteMessage, adminGetStats, adminListAudit
    case getLiveness, getReadiness, getMetrics, getOpenAPI
}
