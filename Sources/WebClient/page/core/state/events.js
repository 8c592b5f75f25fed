// What each type of event changes. docs/events.md describes the events, docs/client-guide.md the rules.

/** @import { Event, StoredThread, Message, Member } from './records.js' */
/** @import { WorkingSet } from './working-set.js' */

import { withMarks, withMember, withRenamedMember } from './members.js';
import { renamed, withKnown, withReaction } from './message.js';
import { withoutBelow } from './ranges.js';
import * as changed from './thread.js';

/** A change of a thread that the store has.
 * @typedef {(thread: StoredThread, data: any, userID: string, records: WorkingSet) => Promise<void> | void} ThreadChange
 */

/** @type {Record<string, ThreadChange>} */
const threadChanges = {
    'thread.updated': (thread, data, _userID, records) => records.putThread(changed.withUpdate(thread, data)),

    'thread.deleted': (thread, _data, _userID, records) => records.deleteThread(thread.id),

    'member.updated': async (thread, { member_count, ...member }, userID, records) => {
        const members = await records.members(thread.id);
        if (members) records.putMembers(thread.id, withMember(members, member));
        thread = { ...thread, member_count };
        if (member.user.id !== userID) return records.putThread(thread);
        if (member.status === 'left' || member.status === 'removed') return records.deleteThread(thread.id);
        records.putThread(changed.withOwn(thread, { role: member.role, status: member.status }));
    },

    'message.created': async (thread, message, userID, records) => {
        const known = await records.message(thread.id, message.seq);
        records.putMessage(withKnown(message, known));
        const members = await records.members(thread.id);
        if (members && message.sender) {
            // Sending a message marks everything before it as read, and leaves the times of the marks.
            const marks = { user_id: message.sender.id, read_seq: message.seq, delivered_seq: message.seq };
            records.putMembers(thread.id, withMarks(members, marks));
        }
        await putWithLastMessage(changed.counting(thread, message, userID), records);
    },

    'message.updated': async (thread, message, _userID, records) => {
        const known = await records.message(thread.id, message.seq);
        if (!known) return;
        records.putMessage(withKnown(message, known));
        await putWithLastMessage(thread, records);
    },

    'message.deleted': async (thread, data, userID, records) => {
        if (data.for === 'me') {
            records.deleteMessage(thread.id, data.seq);
            return await putWithLastMessage(changed.withCounts(thread, data), records);
        }
        if (await records.message(thread.id, data.seq)) records.putMessage(withKnown(data, undefined));
        await putWithLastMessage(changed.discounting(thread, data, userID), records);
    },

    'reaction.updated': async (thread, data, userID, records) => {
        const known = await records.message(thread.id, data.seq);
        if (!known) return;
        records.putMessage(withReaction(known, data, userID));
        await putWithLastMessage(thread, records);
    },

    'receipt.updated': async (thread, data, userID, records) => {
        const receipts = data.receipts ?? [data];
        let members = await records.members(thread.id);
        if (members) {
            for (const receipt of receipts) members = withMarks(members, receipt);
            records.putMembers(thread.id, members);
        }
        const own = receipts.find((/** @type {{user_id: string}} */ receipt) => receipt.user_id === userID);
        if (!own) return;
        const { read_seq, delivered_seq } = own;
        // The form for several people shows the marks as others see them. The own read mark comes in an event of its own.
        if (data.receipts) return records.putThread(changed.withOwn(thread, { delivered_seq }));
        records.putThread(changed.withCounts(changed.withOwn(thread, { read_seq, delivered_seq }), own));
    },

    'settings.updated': async (thread, data, _userID, records) => {
        const { muted_until, archived, pinned, hidden_before_seq, notify, custom, labels } = data;
        const settings = { muted_until, archived, pinned, notify, hidden_before_seq, custom, labels };
        thread = changed.withCounts(changed.withOwn(thread, settings), data);
        if (rangesReachBelow(thread, hidden_before_seq)) {
            records.clearMessages(thread.id, hidden_before_seq);
            thread = { ...thread, ranges: withoutBelow(thread.ranges, hidden_before_seq) };
        }
        await putWithLastMessage(thread, records);
    },

    'user.updated': (thread, user, _userID, records) => putRenamed(thread, user, records),
};

/** Applies one event.
 * @param {Event} event
 * @param {string} userID
 * @param {WorkingSet} records
 */
export async function apply({ type, thread_id, data }, userID, records) {
    if (!thread_id) return await applyToAccount(type, data, records);
    if (type === 'thread.created') return putCreated(data, userID, records);
    const change = threadChanges[type];
    if (!change) return;
    const thread = await records.thread(thread_id);
    if (thread) await change(thread, data, userID, records);
    else if (type !== 'thread.deleted') records.noteUnknownThread(thread_id);
}

/**
 * @param {string} type
 * @param {any} data
 * @param {WorkingSet} records
 */
async function applyToAccount(type, data, records) {
    if (type === 'session.revoked') return records.noteEndedSession(data.session_id);
    if (type !== 'user.updated' && type !== 'settings.updated') return;
    const account = await records.account();
    if (type === 'settings.updated') {
        if (!account || !data.block) return;
        const { user_id, blocked } = data.block;
        const others = account.blocked.filter((id) => id !== user_id);
        return records.putAccount({ ...account, blocked: blocked ? [...others, user_id] : others });
    }
    if (account) records.putAccount({ ...account, user: data });
    await putRenamedEverywhere(data, records);
}

/** Replaces the user's own name, image and status in all threads. The own change comes once for all threads, that of another
 * person once for each thread.
 * @param {import('./records.js').Person} user
 * @param {WorkingSet} records
 */
export async function putRenamedEverywhere(user, records) {
    for (const thread of await records.threads()) await putRenamed(thread, user, records);
}

/** A new thread, or a thread that the user is invited to, added to or joins. What was stored of it before is replaced.
 * @param {any} data
 * @param {string} userID
 * @param {WorkingSet} records
 */
function putCreated(data, userID, records) {
    records.deleteThread(data.id);
    records.putThread(changed.fromCreation(data, userID));
    if (data.members.length > 0) records.putMembers(data.id, data.members);
}

/** Replaces a person's name, image and status in a thread, its messages and its members.
 * @param {StoredThread} thread
 * @param {import('./records.js').Person} user
 * @param {WorkingSet} records
 */
async function putRenamed(thread, user, records) {
    for (const message of await records.messages(thread.id)) {
        if (message.sender?.id === user.id) records.putMessage({ ...message, sender: renamed(message.sender, user) });
    }
    const members = await records.members(thread.id);
    if (members) records.putMembers(thread.id, withRenamedMember(members, user));
    await putWithLastMessage(changed.withPerson(thread, user), records);
}

/** Stores a thread with the newest message that the device has, unless newer messages are not known.
 * @param {StoredThread} thread
 * @param {WorkingSet} records
 */
export async function putWithLastMessage(thread, records) {
    const newest = changed.newestRange(thread);
    const last = newest && await records.newestMessage(thread.id, newest[0], newest[1]);
    records.putThread({ ...thread, last_message: last ?? null });
}

/**
 * @param {StoredThread} thread
 * @param {number} seq
 */
function rangesReachBelow(thread, seq) {
    return thread.ranges.length > 0 && thread.ranges[0][0] < seq;
}
