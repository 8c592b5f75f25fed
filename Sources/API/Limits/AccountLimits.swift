// Which limits per time each call of a signed-in account counts against. One table, without a default: a call that is added
// does not compile before it has a row. docs/limits.md says why.
import Domain

extension OperationID {
    /// The limits of which a call takes one token each before any work is done, the narrowest first. Empty for calls that
    /// only read, for those that are limited by address, and for those of which an account or a session has few.
    var accountLimits: [RateLimit] {
        switch self {
        case .sendMessage: [.sendsOfAccount]
        // A token more for each entry after the first (Receipts.swift).
        case .putReceipt, .putReceipts: [.receiptsOfAccount]
        case .putTyping: [.typingOfAccount]
        case .updateOwnAccount, .changePassword: [.profileChangesOfAccount, .writesOfAccount]
        // Given back where the thread was there already. By the day, the database counts (thread_create).
        case .createThread, .joinRoom: [.threadsOfAccount, .writesOfAccount]
        case .updateThread, .putMember, .deleteMember, .updateSettings, .putUnread,
            .editMessage, .deleteMessage, .putReaction, .deleteReaction,
            .putBlock, .deleteBlock, .putPush, .deletePush:
            [.writesOfAccount]
        case .searchUsers: [.directoryOfAccount]
        // Each ends a session or the account: there are no more of them than sign-ins. Nobody is kept from signing out.
        case .logout, .deleteSession, .deleteOtherSessions, .eraseOwnAccount: []
        // They read. What an account may read at once is bounded elsewhere.
        case .listSessions, .getWebPushKey, .getOwnAccount, .exportOwnAccount, .getUser, .listBlocks, .getThread,
            .searchRooms, .listMembers, .listMessages, .getMessage, .listReceipts, .getInbox, .searchMessages, .sync:
            []
        // Limited by address and by the name that is given (Auth.swift).
        case .register, .requestCode, .login: []
        case .adminCreateUser, .adminListUsers, .adminGetUser, .adminEraseUser, .adminSuspendUser, .adminUnsuspendUser,
            .adminCreateSession, .adminGetThread, .adminDeleteMessage, .adminGetStats, .adminListAudit:
            []
        case .none, .getLiveness, .getReadiness, .getMetrics, .getOpenAPI: []
        }
    }
}
