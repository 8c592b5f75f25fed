// The reducer's records in the store.

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

/** Writes the reducer's changes and publishes their topics.
 * @param {Transaction} tx
 * @param {Changes} changes */
export function applyChanges(tx, changes) {
    for (const [id, seq] of changes.cleared) {
        if (seq <= 0) continue;
        tx.deleteBetween('messages', [id, 0], [id, seq === Infinity ? Infinity : seq - 1]);
        tx.publish('messages/' + id);
    }
    for (const [id, messages] of changes.messages) {
        for (const [seq, message] of messages) {
            if (message) tx.put('messages', message);
            else tx.delete('messages', [id, seq]);
        }
        tx.publish('messages/' + id);
    }
    for (const [id, thread] of changes.threads) {
        if (thread) tx.put('threads', thread);
        else tx.delete('threads', id);
        tx.publish('thread/' + id);
    }
    for (const [id, members] of changes.members) {
        if (members) tx.put('members', { thread_id: id, members });
        else tx.delete('members', id);
        tx.publish('members/' + id);
    }
    if (changes.account) {
        tx.put('meta', { key: 'account', value: changes.account });
        tx.publish('account');
    }
}

/** The events that change stored messages and members. Settings say which messages the user sees. */
const changing = {
    messages: [
        'message.updated',
        'message.deleted',
        'reaction.updated',
        'user.updated',
        'settings.updated',
        'thread.created',
    ],
    members: ['member.updated', 'receipt.updated', 'user.updated', 'thread.created'],
};

/** The row of `versions` that counts for all threads. */
const everyThread = '';

/** Counts the changes of events in each thread. An answer to an earlier request may be older than such a change. The own
 * new profile changes all threads.
 * @param {Transaction} tx
 * @param {import('../state/records.js').Event[]} events */
export async function countVersions(tx, events) {
    const isRenamed = events.some(({ type, thread_id }) => type === 'user.updated' && !thread_id);
    const all = isRenamed ? (await tx.all('threads')).map(({ id }) => id) : [];
    for (const kind of /** @type {const} */ (['messages', 'members'])) {
        const ids = events.filter(({ type }) => changing[kind].includes(type)).map(({ thread_id }) => thread_id);
        await raiseVersions(tx, kind, [...all, ...ids.filter((id) => id !== undefined)]);
    }
}

/** @param {Transaction} tx @param {'messages' | 'members'} kind @param {string[]} threadIDs */
export async function raiseVersions(tx, kind, threadIDs) {
    for (const id of new Set(threadIDs)) {
        const version = await versionOf(tx, id);
        tx.put('versions', { thread_id: id, ...version, [kind]: version[kind] + 1 });
    }
}

/** A reload may change everything: no answer to an earlier request counts. A random version is also one that a store which
 * was erased meanwhile did not have.
 * @param {Transaction} tx */
export function raiseAllVersions(tx) {
    const version = Math.random();
    tx.put('versions', { thread_id: everyThread, messages: version, members: version });
}

/** @param {Transaction} tx @param {string} threadID @returns {Promise<{messages: number, members: number}>} */
export async function versionOf(tx, threadID) {
    return await tx.get('versions', threadID) ?? { messages: 0, members: 0 };
}

/** Returns the version of what an answer about a thread shows. An answer is older than the store if it has changed since
 * the request.
 * @param {Transaction} tx @param {string} threadID @param {'messages' | 'members'} kind @returns {Promise<string>} */
export async function answerVersion(tx, threadID, kind) {
    return (await versionOf(tx, everyThread))[kind] + '/' + (await versionOf(tx, threadID))[kind];
}
