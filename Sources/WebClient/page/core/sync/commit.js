// Commits answers and events of the server to the store.

import { foldEvents, foldInbox, foldMembers, foldMessage, foldPage } from '../state/fold.js';
import { lacksLastMessage } from '../state/thread.js';
import { answerVersion, applyChanges, countVersions, readerOf, recordTables } from '../store/records.js';
import { forgetReadMarks } from './read-marks.js';

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../store/schema.js').Table} Table */
/** @typedef {import('../store/schema.js').Transaction} Transaction */
/** @typedef {import('../state/records.js').Reader} Reader */
/** @typedef {import('../state/records.js').Changes} Changes */
/** @typedef {import('../http/http.js').HTTP} HTTP */
/** @typedef {import('../types.js').Thread} Thread */
/** @typedef {import('../types.js').Message} Message */

const eventTables = /** @type {Table[]} */ ([...recordTables, 'outbox', 'files']);

/** Commits the events of one poll together with its cursor.
 * @param {Store} store
 * @param {{events: import('../state/records.js').Event[], cursor: string}} answer
 * @param {string} before the cursor of the request
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
        await dropSent(tx, events.filter(({ type }) => type === 'message.created').map(({ data }) => data.id));
        tx.put('meta', { key: 'cursor', value: cursor });
        const lacking = [...changes.threads].filter(([, thread]) => thread && lacksLastMessage(thread));
        if (changes.unknownThreads.length > 0) {
            // Stored with the cursor: no later event names these threads again.
            tx.put('meta', { key: 'unknown', value: [...await unknownOf(tx), ...changes.unknownThreads] });
        }
        return { unknown: changes.unknownThreads, lacking: lacking.map(([id]) => id) };
    });
}

/** Commits a thread that an event named and that the store does not have, as GET /v1/threads/{id} returns it.
 * @param {Store} store @param {string} threadID @param {Thread | undefined} thread undefined: there is no such thread */
export function commitThread(store, threadID, thread) {
    return store.write(recordTables, async (tx) => {
        const others = (await unknownOf(tx)).filter((id) => id !== threadID);
        tx.put('meta', { key: 'unknown', value: others });
        if (thread) applyChanges(tx, await foldInbox([thread], readerOf(tx)));
    });
}

/** Threads that events named and that are not loaded yet.
 * @param {Transaction} tx @returns {Promise<string[]>} */
export async function unknownOf(tx) {
    return (await tx.get('meta', 'unknown'))?.value ?? [];
}

/** Commits a message that the server has stored, and removes it from the outbox. If the outbox does not have the message
 * any more, its event came first: the store has the outcome, and the answer is older.
 * @param {Store} store @param {Message} message */
export function commitSent(store, message) {
    return store.write(eventTables, async (tx) => {
        if (!(await tx.all('outbox')).some(({ id }) => id === message.id)) return;
        applyChanges(tx, await foldMessage(message, readerOf(tx)));
        await dropSent(tx, [message.id]);
    });
}

/** Fetches a page of messages and commits it.
 * @param {Store} store
 * @param {HTTP} http
 * @param {string} threadID
 * @param {{before?: number, after?: number, limit?: number}} request
 * @returns {Promise<void>} */
export function fetchPage(store, http, threadID, request) {
    const fetch = () => http.get(`/v1/threads/${threadID}/messages`, { limit: 50, ...request });
    return commitAnswer(
        store,
        threadID,
        'messages',
        fetch,
        (page, reader) => foldPage(page, request, threadID, reader),
    );
}

/** Fetches the members of a thread, 1,000 at most, and commits them.
 * @param {Store} store @param {HTTP} http @param {string} threadID
 * @returns {Promise<void>} */
export function fetchMembers(store, http, threadID) {
    const fetch = () => http.list(`/v1/threads/${threadID}/members`, 'members');
    return commitAnswer(store, threadID, 'members', fetch, (members, reader) => foldMembers(members, threadID, reader));
}

/** Commits an answer, unless an event has changed the thread since the request: the answer may be older than the event.
 * Then the request is repeated.
 * @template T
 * @param {Store} store
 * @param {string} threadID
 * @param {'messages' | 'members'} kind
 * @param {() => Promise<T>} fetch
 * @param {(answer: T, reader: Reader) => Promise<Changes>} fold */
async function commitAnswer(store, threadID, kind, fetch, fold) {
    for (let tries = 1, isCommitted = false; !isCommitted && tries <= 5; tries += 1) {
        const version = /** @param {Transaction} tx */ (tx) => answerVersion(tx, threadID, kind);
        const before = await store.read(['versions'], version);
        const answer = await fetch();
        isCommitted = await store.write(recordTables, async (tx) => {
            if (await version(tx) !== before) return false;
            applyChanges(tx, await fold(answer, readerOf(tx)));
            return true;
        });
    }
}

/** Removes messages from the outbox that the server has.
 * @param {Transaction} tx @param {string[]} ids */
async function dropSent(tx, ids) {
    if (ids.length === 0) return;
    for (const entry of await tx.all('outbox')) {
        if (!ids.includes(entry.id)) continue;
        tx.delete('outbox', entry.order);
        for (const file of entry.files) tx.delete('files', file.id);
        tx.publish('outbox/' + entry.thread_id);
    }
}
