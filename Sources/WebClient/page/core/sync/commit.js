// Writes what the server says into the store.

import { foldEvents, foldInbox, foldMembers, foldMessage, foldPage, foldReload } from '../state/fold.js';
import { lacksLastMessage } from '../state/thread.js';
import { applyChanges, countVersions, readerOf, recordTables, versionOf } from '../store/records.js';
import { forgetReadMarks } from './read-marks.js';

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../store/schema.js').Table} Table */
/** @typedef {import('../http/http.js').HTTP} HTTP */
/** @typedef {import('../types.js').Thread} Thread */
/** @typedef {import('../types.js').Message} Message */

const eventTables = /** @type {Table[]} */ ([...recordTables, 'outbox', 'files']);

/** Commits the events of one poll together with its cursor.
 * @param {Store} store
 * @param {{events: import('../state/records.js').Event[], cursor: string}} answer
 * @param {string} before the cursor that was asked for
 * @param {string} userID
 * @returns {Promise<{unknown: string[], lacking: string[]} | null>} threads to load, and threads whose last message is to
 * be fetched; null if another tab has moved the cursor meanwhile: then nothing is written */
export function commitEvents(store, { events, cursor }, before, userID) {
    return store.write(eventTables, async (tx) => {
        if ((await tx.get('meta', 'cursor'))?.value !== before) return null;
        const changes = await foldEvents(events, userID, readerOf(tx));
        applyChanges(tx, changes);
        await countVersions(tx, events);
        await forgetReadMarks(tx, changes.threads);
        const created = events.filter(({ type }) => type === 'message.created');
        if (created.length > 0) await dropSent(tx, new Set(created.map(({ data }) => data.id)));
        tx.put('meta', { key: 'cursor', value: cursor });
        const lacking = [...changes.threads.values()].filter((thread) => thread && lacksLastMessage(thread));
        return { unknown: changes.unknownThreads, lacking: lacking.map((thread) => thread?.id ?? '') };
    });
}

/** Commits a whole inbox: at the first start, and after the cursor has expired.
 * @param {Store} store
 * @param {{threads: Thread[], cursor: string, staleIDs: string[]}} inbox `staleIDs`: threads whose stored messages cannot be
 * trusted */
export function commitReload(store, { threads, cursor, staleIDs }) {
    return store.write(recordTables, async (tx) => {
        const changes = await foldReload(threads, staleIDs, readerOf(tx));
        applyChanges(tx, changes);
        for (const id of staleIDs) {
            const version = await versionOf(tx, id);
            tx.put('versions', { thread_id: id, messages: version.messages + 1, members: version.members + 1 });
        }
        await forgetReadMarks(tx, changes.threads);
        tx.put('meta', { key: 'cursor', value: cursor });
        tx.note('inbox');
    });
}

/** Commits a thread as GET /v1/threads/{id} returns it.
 * @param {Store} store @param {Thread} thread */
export function commitThread(store, thread) {
    return store.write(recordTables, async (tx) => {
        applyChanges(tx, await foldInbox([thread], readerOf(tx)));
    });
}

/** Commits a message that the server returned for a send or an edit.
 * @param {Store} store
 * @param {Message} message
 * @param {{isSent?: boolean, version?: number}} [options] `isSent`: it leaves the outbox. `version`: that of the thread's
 * messages when the request began; after a later change the events have the newer message */
export function commitMessage(store, message, { isSent = false, version } = {}) {
    return store.write(eventTables, async (tx) => {
        const isOlder = version !== undefined && (await versionOf(tx, message.thread_id)).messages !== version;
        if (!isOlder) applyChanges(tx, await foldMessage(message, readerOf(tx)));
        if (isSent) await dropSent(tx, new Set([message.id]));
    });
}

/** Fetches a page of messages and commits it. A change that arrives meanwhile may be newer than the page: then the page is
 * fetched again.
 * @param {Store} store
 * @param {HTTP} http
 * @param {string} threadID
 * @param {{before?: number, after?: number, limit?: number}} request
 * @returns {Promise<{messages: Message[], head: number, end: boolean}>} */
export async function fetchPage(store, http, threadID, request) {
    for (let attempt = 1;; attempt += 1) {
        const version = await store.read(['versions'], (tx) => versionOf(tx, threadID));
        const page = await http.get(`/v1/threads/${threadID}/messages`, { limit: 50, ...request });
        const isCommitted = await store.write(recordTables, async (tx) => {
            const isOlder = (await versionOf(tx, threadID)).messages !== version.messages;
            if (isOlder && attempt < 5) return false;
            applyChanges(tx, await foldPage(page, request, threadID, readerOf(tx)));
            return true;
        });
        if (isCommitted) return page;
    }
}

/** Fetches the members of a thread, 1,000 at most, and commits them.
 * @param {Store} store @param {HTTP} http @param {string} threadID */
export async function fetchMembers(store, http, threadID) {
    for (let attempt = 1; attempt <= 5; attempt += 1) {
        const version = await store.read(['versions'], (tx) => versionOf(tx, threadID));
        const members = await http.list(`/v1/threads/${threadID}/members`, 'members');
        const isCommitted = await store.write(recordTables, async (tx) => {
            const isOlder = (await versionOf(tx, threadID)).members !== version.members;
            if (isOlder && attempt < 5) return false;
            applyChanges(tx, await foldMembers(members, threadID, readerOf(tx)));
            return true;
        });
        if (isCommitted) return;
    }
}

/** Removes messages from the outbox that the server has.
 * @param {import('../store/schema.js').Transaction} tx
 * @param {Set<string>} ids */
async function dropSent(tx, ids) {
    for (const entry of await tx.all('outbox')) {
        if (!ids.has(entry.id)) continue;
        tx.delete('outbox', entry.order);
        for (const file of entry.files) tx.delete('files', file.id);
        tx.note('outbox/' + entry.thread_id);
    }
}
