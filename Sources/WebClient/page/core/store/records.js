// What the reducer reads from the store and writes to it.

/** @typedef {import('./schema.js').Transaction} Transaction */
/** @typedef {import('./schema.js').Table} Table */
/** @typedef {import('../state/records.js').Reader} Reader */
/** @typedef {import('../state/records.js').Changes} Changes */

/** The tables that a transaction with a reader needs. */
export const recordTables = /** @type {Table[]} */ (['meta', 'threads', 'messages', 'members', 'versions', 'marks']);

/** @param {Transaction} tx @returns {Reader} */
export function readerOf(tx) {
    return {
        thread: (id) => tx.get('threads', id),
        threads: () => tx.all('threads'),
        message: (id, seq) => tx.get('messages', [id, seq]),
        newestMessage: async (id, first, last) => {
            if (first > last) return undefined;
            return (await tx.all('messages', { from: [id, first], to: [id, last], limit: 1, isReversed: true }))[0];
        },
        messages: (id) => tx.all('messages', { from: [id, 0], to: [id, Infinity] }),
        members: async (id) => (await tx.get('members', id))?.members,
        account: async () => (await tx.get('meta', 'account'))?.value,
    };
}

/** Writes what the reducer returned, and notes what changed.
 * @param {Transaction} tx
 * @param {Changes} changes */
export function applyChanges(tx, changes) {
    for (const [id, seq] of changes.cleared) {
        if (seq <= 0) continue;
        tx.deleteBetween('messages', [id, 0], [id, seq === Infinity ? Infinity : seq - 1]);
        tx.note('messages/' + id);
    }
    for (const [id, messages] of changes.messages) {
        for (const [seq, message] of messages) {
            if (message) tx.put('messages', message);
            else tx.delete('messages', [id, seq]);
        }
        tx.note('messages/' + id);
    }
    for (const [id, thread] of changes.threads) {
        if (thread) tx.put('threads', thread);
        else tx.delete('threads', id);
        tx.note('thread/' + id);
    }
    for (const [id, members] of changes.members) {
        if (members) tx.put('members', { thread_id: id, members });
        else tx.delete('members', id);
        tx.note('members/' + id);
    }
    if (changes.account) {
        tx.put('meta', { key: 'account', value: changes.account });
        tx.note('account');
    }
}

/** Counts changes of stored messages and members that events bring. A page that was asked for before such a change may be
 * older than the change.
 * @param {Transaction} tx
 * @param {import('../state/records.js').Event[]} events */
export async function countVersions(tx, events) {
    const changing = new Set(['message.updated', 'message.deleted', 'reaction.updated', 'user.updated']);
    const moving = new Set(['member.updated', 'receipt.updated', 'user.updated']);
    /** @type {Map<string, {messages: number, members: number}>} */
    const counts = new Map();
    for (const { type, thread_id: id } of events) {
        if (!id || !changing.has(type) && !moving.has(type)) continue;
        const count = counts.get(id) ?? await versionOf(tx, id);
        counts.set(id, {
            messages: count.messages + (changing.has(type) ? 1 : 0),
            members: count.members + (moving.has(type) ? 1 : 0),
        });
    }
    for (const [id, count] of counts) tx.put('versions', { thread_id: id, ...count });
}

/** @param {Transaction} tx @param {string} threadID @returns {Promise<{messages: number, members: number}>} */
export async function versionOf(tx, threadID) {
    return await tx.get('versions', threadID) ?? { messages: 0, members: 0 };
}
