// What the interface says about the way of a message: pure functions.

/** @typedef {import('../../core/types.js').Row} Row */
/** @typedef {import('../../core/types.js').Member} Member */
/** @typedef {import('../../core/types.js').Thread} Thread */

/** The status of an own message as key and values of a text.
 * @param {Row} row @param {Thread | null | undefined} thread @param {Member[]} others the other members
 * @returns {{key: string, count: number}}
 */
export function deliveryStatus(row, thread, others) {
    if (row.state !== 'stored') return { key: 'conversation.sending', count: 0 };
    const { seq } = row.message;
    // Bots have no marks.
    const joined = others.filter(({ status, user }) => status === 'joined' && user.kind !== 'bot');
    const readers = joined.filter((member) => member.read_seq >= seq).length;
    if (thread?.kind === 'direct') {
        if (readers > 0) return { key: 'conversation.read', count: 0 };
    } else if (readers > 0) return { key: 'conversation.readBy', count: readers };
    const isDelivered = joined.length > 0 && joined.every((member) => member.delivered_seq >= seq);
    return { key: isDelivered ? 'conversation.delivered' : 'conversation.sent', count: 0 };
}

/** The row that shows the status: the newest own message that is neither failed, deleted, nor waiting for a moderator.
 * @param {Row[]} rows @param {string | undefined} me the caller's id
 */
export function rowWithStatus(rows, me) {
    return rows.findLast(({ message, state }) =>
        message.sender?.id === me && state !== 'failed' && state !== 'pending' && !message.deleted_at
    );
}

/** Whether the message's time is over, by the clock of this device. @param {import('../../core/types.js').Message} message */
export function isExpired({ expires_at }) {
    return !!expires_at && Date.parse(expires_at) <= Date.now();
}

const groupedFor = 5 * 60_000;

/** Whether a message continues the one above: same sender, same day, within five minutes.
 * @param {Row | undefined} above @param {Row} row
 */
export function continues(above, row) {
    if (!above?.message.sender || above.message.sender.id !== row.message.sender?.id) return false;
    const [earlier, later] = [new Date(above.message.timestamp), new Date(row.message.timestamp)];
    return later.getTime() - earlier.getTime() < groupedFor && earlier.toDateString() === later.toDateString();
}
