// Changes of one thread that need no message.

/** @import { StoredThread, Thread, Message, Person } from './records.js' */

import { renamed } from './message.js';
import { rangeAt, withoutBelow, withRange } from './ranges.js';

/** A thread of the inbox. The inbox's last message is the newest that the user sees: nothing is above it.
 * @param {Thread} thread
 * @param {StoredThread | undefined} known the stored thread, whose ranges are kept
 * @returns {StoredThread}
 */
export function fromInbox(thread, known) {
    const last = thread.last_message ?? null;
    const hiddenBefore = thread.me.hidden_before_seq;
    let ranges = withoutBelow(known?.ranges ?? [], hiddenBefore);
    if (thread.me.status === 'joined') ranges = withRange(ranges, last?.seq ?? Math.max(1, hiddenBefore), thread.head);
    return { ...thread, last_message: last, ranges, countedSeq: thread.head };
}

/** The thread of a `thread.created`.
 * @param {any} data complete if it has `me`, else a new thread with all its members and no messages
 * @param {string} userID
 * @returns {StoredThread}
 */
export function fromCreation({ members, ...data }, userID) {
    const nothingKnown = { last_message: null, ranges: [], countedSeq: 0 };
    if (data.me) return { ...data, ...nothingKnown, countedSeq: data.head };
    /** @param {any} member */
    const isOwn = (member) => member.user.id === userID;
    const own = members.find(isOwn);
    const other = members.find((/** @type {any} */ member) => !isOwn(member));
    const thread = {
        ...data,
        ...nothingKnown,
        peer: data.kind === 'direct' ? other?.user ?? null : null,
        unread_count: 0,
        mention_count: 0,
        head: 0,
        last_activity_at: data.created_at,
        me: {
            role: own?.role ?? 'member',
            status: own?.status ?? 'joined',
            read_seq: 0,
            delivered_seq: 0,
            muted_until: null,
            archived: false,
            pinned: false,
            notify: 'all',
            hidden_before_seq: 0,
            custom: null,
            labels: [],
            invited_by: null,
        },
    };
    return withUpdate(thread, data);
}

/** The thread after a `thread.updated`. A direct thread has the name and image of its peer.
 * @param {StoredThread} thread
 * @param {any} update
 * @returns {StoredThread}
 */
export function withUpdate(thread, { title, topic, image, retention, member_count, external_id, custom, labels }) {
    return {
        ...thread,
        topic,
        retention,
        member_count,
        external_id,
        custom,
        labels,
        title: title ?? thread.peer?.name ?? null,
        image: image ?? thread.peer?.profile_image ?? null,
    };
}

/** The thread with the absolute counts of an event. Every later `message.created` is counted.
 * @param {StoredThread} thread
 * @param {{unread_count: number, mention_count: number}} counts
 * @returns {StoredThread}
 */
export function withCounts(thread, { unread_count, mention_count }) {
    return { ...thread, unread_count, mention_count, countedSeq: 0 };
}

/** The thread with changes of the own part in it.
 * @param {StoredThread} thread
 * @param {Partial<StoredThread['me']>} changes
 * @returns {StoredThread}
 */
export function withOwn(thread, changes) {
    return { ...thread, me: { ...thread.me, ...changes } };
}

/** The counts, marks and head after a `message.created`.
 * @param {StoredThread} thread
 * @param {Message} message
 * @param {string} userID
 * @returns {StoredThread}
 */
export function counting(thread, message, userID) {
    const { seq, sender, timestamp } = message;
    const ranges = withRange(thread.ranges, seq, seq);
    if (seq <= thread.countedSeq) return { ...thread, ranges };
    thread = { ...thread, ranges };
    if (seq > thread.head) thread = { ...thread, head: seq, last_activity_at: timestamp };
    if (!sender && !isOfHostApp(message)) return thread;
    if (sender?.id === userID) {
        // Sending a message marks everything as read.
        const read = withOwn(thread, { read_seq: seq, delivered_seq: seq });
        return withCounts(read, { unread_count: 0, mention_count: 0 });
    }
    return {
        ...thread,
        unread_count: thread.unread_count + 1,
        mention_count: thread.mention_count + (message.mentions.includes(userID) ? 1 : 0),
    };
}

/** Whether a message without a sender is the host app's, which counts like any other. The service's own say who did what.
 * @param {Message} message
 */
function isOfHostApp({ payload }) {
    return !!payload && !('action' in payload && 'by' in payload);
}

/** The thread after a message was deleted for everyone. The counts after one of the host app's come in an event of their own.
 * @param {StoredThread} thread
 * @param {Message} tombstone
 * @param {string} userID
 * @returns {StoredThread}
 */
export function discounting(thread, { seq, sender }, userID) {
    const isUnread = seq > thread.me.read_seq && seq >= thread.me.hidden_before_seq;
    if (!sender || sender.id === userID || !isUnread) return thread;
    return { ...thread, unread_count: Math.max(0, thread.unread_count - 1) };
}

/** The thread after a `user.updated`, but for its messages.
 * @param {StoredThread} thread
 * @param {Person} user
 * @returns {StoredThread}
 */
export function withPerson(thread, user) {
    const { invited_by } = thread.me;
    if (invited_by) thread = withOwn(thread, { invited_by: renamed(invited_by, user) });
    if (thread.peer?.id !== user.id) return thread;
    return { ...thread, peer: renamed(thread.peer, user), title: user.name, image: user.profile_image };
}

/** The range in which a thread's newest messages are known; undefined if the newest are not known.
 * @param {StoredThread} thread
 */
export function newestRange(thread) {
    return rangeAt(thread.ranges, thread.head) && thread.ranges.at(-1);
}

/** Whether the thread's last message has to be fetched, with GET /v1/threads/{id}/messages?limit=1.
 * @param {StoredThread} thread
 * @returns {boolean}
 */
export function lacksLastMessage(thread) {
    const first = Math.max(1, thread.me.hidden_before_seq);
    if (thread.me.status !== 'joined' || thread.last_message || thread.head < first) return false;
    const newest = newestRange(thread);
    return !newest || newest[0] > first;
}
