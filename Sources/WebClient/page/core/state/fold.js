// The client's state as a function of one inbox and the events after it. `records.js` says how a store uses this.

/** @import { Reader, Changes, Event, Thread, Message, Member } from './records.js' */

import { apply, putWithLastMessage } from './events.js';
import { isAsRecent, withKnown } from './message.js';
import { withRange } from './ranges.js';
import { fromInbox } from './thread.js';
import { WorkingSet } from './working-set.js';

/** Applies events in their order. Store the cursor of their poll together with the changes.
 * @param {Event[]} events
 * @param {string} userID
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldEvents(events, userID, reader) {
    const records = new WorkingSet(reader);
    for (const event of events) await apply(event, userID, records);
    return records.changes;
}

/** Stores threads of the inbox. Pages after the first one may be later than the cursor.
 * @param {Thread[]} threads
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldInbox(threads, reader) {
    const records = new WorkingSet(reader);
    for (const thread of threads) await putInboxThread(thread, records);
    return records.changes;
}

/** Stores a page of messages of GET /v1/threads/{id}/messages.
 * @param {{messages: Message[], head: number, end: boolean}} page
 * @param {{before?: number, after?: number}} request seqs; neither: the newest page
 * @param {string} threadID
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldPage({ messages, head, end }, { before, after }, threadID, reader) {
    const records = new WorkingSet(reader);
    const thread = await records.thread(threadID);
    if (!thread) return records.changes;
    for (const message of messages) await putStored(message, records);
    const bottom = Math.max(1, thread.me.hidden_before_seq);
    const [first, last] = after === undefined
        ? [end ? bottom : messages[0]?.seq ?? Infinity, before === undefined ? head : before - 1]
        : [after + 1, end ? head : messages.at(-1)?.seq ?? 0];
    await putWithLastMessage({ ...thread, ranges: withRange(thread.ranges, first, last) }, records);
    return records.changes;
}

/** Stores a message that the server returned to a send, an edit or a GET, unless events have brought a later state of it.
 * Head, counts and marks move by events alone.
 * @param {Message} message
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldMessage(message, reader) {
    const records = new WorkingSet(reader);
    const thread = await records.thread(message.thread_id);
    const known = await records.message(message.thread_id, message.seq);
    if (!thread || isAsRecent(known, message)) return records.changes;
    await putStored(message, records);
    await putWithLastMessage({ ...thread, ranges: withRange(thread.ranges, message.seq, message.seq) }, records);
    return records.changes;
}

/** Stores all members of a thread, as GET /v1/threads/{id}/members returns them. Events keep the list from then on.
 * @param {Member[]} members
 * @param {string} threadID
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldMembers(members, threadID, reader) {
    const records = new WorkingSet(reader);
    if (await records.thread(threadID)) records.putMembers(threadID, members);
    return records.changes;
}

/** The inbox that the user sees: newest activity first, and the unread total.
 * @param {import('./records.js').StoredThread[]} threads
 * @returns {import('../types.js').Inbox}
 */
export function inboxOf(threads) {
    const sorted = [...threads].sort((left, right) =>
        compare(right.last_activity_at, left.last_activity_at) || compare(right.id, left.id)
    );
    return { threads: sorted, unreadTotal: threads.reduce((sum, thread) => sum + thread.unread_count, 0) };
}

/** Stores a thread as the inbox shows it.
 * @param {Thread} thread
 * @param {WorkingSet} records
 */
export async function putInboxThread(thread, records) {
    const stored = fromInbox(thread, await records.thread(thread.id));
    records.clearMessages(thread.id, thread.me.hidden_before_seq);
    if (thread.last_message) await putStored(thread.last_message, records);
    await putWithLastMessage(stored, records);
}

/** Stores a message as the server returns it.
 * @param {Message} message
 * @param {WorkingSet} records
 */
async function putStored(message, records) {
    records.putMessage(withKnown(message, await records.message(message.thread_id, message.seq)));
}

/**
 * @param {string} left
 * @param {string} right
 */
function compare(left, right) {
    return left < right ? -1 : left > right ? 1 : 0;
}
