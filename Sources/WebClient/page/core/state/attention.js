// How many messages wait for the user: what the tab's title and the icon of the app count.

/** @typedef {import('../types.js').Thread} Thread */

/** Whether a thread is muted now.
 * @param {Thread} thread @param {number} [now] milliseconds */
export function isMuted({ me }, now = Date.now()) {
    return me.muted_until !== null && Date.parse(me.muted_until) > now;
}

/** Returns what a thread adds: its unread messages, only the mentions if the user wants to know of those alone, nothing if it
 * is muted, and one for an invitation.
 * @param {Thread} thread @param {number} [now] */
export function attentionOf(thread, now) {
    const { me, unread_count, mention_count } = thread;
    if (me.status === 'invited') return 1;
    if (isMuted(thread, now) || me.notify === 'none') return 0;
    return me.notify === 'mentions' ? mention_count : unread_count;
}

/** @param {Thread[]} threads */
export function attention(threads) {
    return threads.reduce((sum, thread) => sum + attentionOf(thread), 0);
}

/** Whether the user wants to be notified of a message.
 * @param {Thread} thread @param {import('../types.js').Message} message @param {string} userID @param {number} [now] */
export function isAlerting(thread, { type, seq, sender, mentions }, userID, now) {
    const { me } = thread;
    if (!sender || sender.id === userID || type === 'system' || me.status !== 'joined') return false;
    if (isMuted(thread, now) || seq <= me.read_seq || seq < me.hidden_before_seq) return false;
    return me.notify !== 'none' && (me.notify !== 'mentions' || mentions.includes(userID));
}

/** Whether a time of day is between two others, over midnight if the second is earlier.
 * @param {{from: string, to: string} | null} quiet
 * @param {string} now such as `07:30`
 */
export function isQuiet(quiet, now) {
    if (!quiet || quiet.from === quiet.to) return false;
    return quiet.from < quiet.to ? quiet.from <= now && now < quiet.to : quiet.from <= now || now < quiet.to;
}
