// The rate limits of each call of a signed-in account. The table has no default, so a new call does not compile without
// a row. docs/limits.md has the reasons.
import Domain

extension OperationID {
    /// The limits of which a call takes one token each before any work, narrowest first. Empty for calls that only
    /// read, for calls limited by address, and for those that an account rarely repeats.
    var accountLimits: [RateLimit] {
        switch self {
        case .sendMessage: [.sendsOfAccount]
        // One token more for each entry after the first (Receipts.swift).
        case .putReceipt, .putReceipts, .receiveAttachment: [.receiptsOfAccount]
        case .putTyping: [.typingOfAccount]
        case .updateOwnAccount, .changePassword, .putEmail, .confirmEmail, .deleteEmail:
            [.profileChangesOfAccount, .writesOfAccount]
        // Given back if the thread existed before. The database counts the daily limit (thread_create).
        case .createThread, .joinRoom: [.threadsOfAccount, .writesOfAccount]
        case .updateThread, .putMember, .deleteMember, .updateSettings, .putUnread,
            .editMessage, .deleteMessage, .putReaction, .deleteReaction,
            .putBlock, .deleteBlock, .putPush, .deletePush,
            .putAttachment, .createAttachment, .getUpload, .appendUpload, .deleteAttachment, .putThumbnail,
            .linkAttachment, .setMediaCookie:
            [.writesOfAccount]
        case .searchUsers: [.directoryOfAccount]
        case .createReport: [.reportsOfAccount]
        // Each ends a session or the account, so they are no more frequent than sign-ins. Signing out is always
        // allowed.
        case .logout, .deleteSession, .deleteOtherSessions, .eraseOwnAccount: []
        // These read. AccountReads limits concurrent reads.
        case .listSessions, .getWebPushKey, .getOwnAccount, .exportOwnAccount, .getUser, .listBlocks, .getThread,
            .searchRooms, .listMembers, .listMessages, .getMessage, .listEdits, .listReactions, .listReceipts,
            .getInbox, .searchMessages, .sync,
            .getAttachment, .getThumbnail, .getAttachmentInfo, .listCommands:
            []
        // Limited by address and by the given name.
        case .register, .requestCode, .login, .setPassword: []
        case .adminCreateKey, .adminListKeys, .adminDeleteKey,
            .adminCreateUser, .adminListUsers, .adminGetUser, .adminEraseUser, .adminSuspendUser, .adminUnsuspendUser,
            .adminPutUser, .adminGetUnread,
            .adminCreateThread, .adminListThreads, .adminPutThread, .adminUpdateThread,
            .adminDeleteThread,
            .adminListMembers, .adminPutMember, .adminDeleteMember,
            .adminSendMessage, .adminListMessages, .adminGetMessage, .adminEditMessage,
            .adminCreateSession, .adminResetPassword, .adminGetThread, .adminDeleteMessage, .adminGetStats,
            .adminListAudit,
            .adminListChanges, .adminAckChanges, .adminListConsumers, .adminGetConsumer, .adminPutConsumer,
            .adminDeleteConsumer,
            .adminCreateWebhook, .adminListWebhooks, .adminGetWebhook, .adminUpdateWebhook, .adminDeleteWebhook,
            .adminRotateWebhook, .adminTestWebhook, .adminReplayWebhook, .adminListWebhookDeliveries,
            .adminCreateCommand, .adminListCommands, .adminGetCommand, .adminUpdateCommand, .adminDeleteCommand,
            .adminRotateCommand,
            .adminCreateInvitation, .adminListInvitations, .adminDeleteInvitation,
            .adminCreateHook, .adminListHooks, .adminDeleteHook, .adminListReports, .adminUpdateReport,
            .adminCreateHold, .adminListHolds, .adminGetHold, .adminReleaseHold, .adminListHoldContents,
            .adminExportHold, .adminGetExportKey,
            .adminListReviews, .adminDecideReview,
            .adminListOutboxFailures, .adminRetryOutboxFailure, .adminDeleteOutboxFailure, .adminExport,
            .adminImport:
            []
        // Limited by hook.
        case .postToHook: []
        case .none, .getService, .getLiveness, .getReadiness, .getMetrics, .getOpenAPI, .getWebClient: []
        }
    }
}
