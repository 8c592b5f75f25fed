// What the user may do with a message: a pure function.

/** @typedef {import('../../core/types.js').Row} Row */
/** @typedef {import('../../core/types.js').Thread} Thread */

/** What may be done with a message.
 * @param {Row} row @param {Thread | null | undefined} thread @param {string | undefined} me
 */
export function permissions(row, thread, me) {
    const { message, state } = row;
    const isStored = state === 'stored' && thread?.me.status === 'joined';
    const isOwn = message.sender?.id === me;
    const isAlive = isStored && !message.deleted_at && message.payload !== null && message.type !== 'system';
    const isAdmin = thread?.kind !== 'direct' && (thread?.me.role === 'owner' || thread?.me.role === 'admin');
    const isFromOther = isStored && !isOwn && message.sender !== null;
    return {
        reply: isAlive,
        react: isAlive,
        copy: typeof message.payload?.text === 'string' && !message.deleted_at,
        copyLink: isAlive,
        forward: isAlive && (message.type === 'message' || message.type === 'location'),
        edit: isAlive && isOwn && message.type === 'message',
        deleteForEveryone: isStored && !message.deleted_at && message.type !== 'system' && (isOwn || isAdmin),
        deleteForMe: isStored,
        markUnread: isFromOther,
        cancelSending: state !== 'stored',
        seenBy: isStored && isOwn && thread?.kind !== 'direct' && !message.deleted_at,
        reactors: isAlive && Object.keys(message.reactions).length > 0,
        history: isAlive && message.edited_at !== null,
        profile: isFromOther,
        report: isFromOther && isAlive,
    };
}
