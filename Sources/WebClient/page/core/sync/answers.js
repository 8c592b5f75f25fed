// Commits answers of calls that change something. Modules that send such calls load this one.

import { pathOf } from '../calls.js';
import { sleep } from '../http/back-off.js';
import { foldInbox, foldMessage } from '../state/fold.js';
import { applyChanges, readerOf, recordTables } from '../store/records.js';

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../http/http.js').HTTP} HTTP */
/** @typedef {import('../types.js').Thread} Thread */
/** @typedef {import('../types.js').Message} Message */

/** Edits the text of a message. A message that the store does not have any more was deleted or hidden since the request, or
 * its thread was loaded again: then the answer is older than the store.
 * @param {Store} store @param {HTTP} http @param {Message} message @param {string} text
 * @returns {Promise<boolean>} false: a moderator must approve the edit first */
export async function edit(store, http, message, text) {
    const { attachments, ...rest } = message.payload ?? {};
    const payload = {
        ...rest,
        text,
        ...(attachments ? { attachments: attachments.map(({ id }) => ({ id })) } : {}),
    };
    const edited = await http.patch(pathOf(message), { payload });
    if (edited.state === 'pending') return false;
    await store.write(recordTables, async (tx) => {
        const reader = readerOf(tx);
        if ((await reader.message(edited.thread_id, edited.seq))?.id !== edited.id) return;
        applyChanges(tx, await foldMessage(edited, reader));
    });
    return true;
}

/** Removes a thread's read mark once the server has answered it, at the latest after 10 s.
 * @param {Store} store @param {string} threadID */
export async function dropReadMark(store, threadID) {
    const isUnderWay = () =>
        store.read(['marks'], async (tx) => (await tx.get('marks', threadID))?.isAnswered === false);
    for (let waits = 0; waits < 100 && await isUnderWay(); waits += 1) await sleep(100);
    await store.write(['marks'], (tx) => {
        tx.delete('marks', threadID);
        tx.publish('mark/' + threadID);
    });
}

/** Makes a call that returns a thread, and commits the thread unless the store has it. Events that arrive meanwhile may be
 * newer than the answer, and may have deleted the thread again: then it is requested once more.
 * @param {Store} store
 * @param {HTTP} http
 * @param {() => Promise<Thread>} request
 * @returns {Promise<Thread>} */
export async function commitNewThread(store, http, request) {
    let before = await cursorOf(store);
    const thread = await request();
    for (let tries = 1, answer = thread; tries <= 5; tries += 1) {
        const expected = before;
        const isDone = await store.write(recordTables, async (tx) => {
            if (await tx.get('threads', thread.id)) return true;
            if ((await tx.get('meta', 'cursor'))?.value !== expected) return false;
            applyChanges(tx, await foldInbox([answer], readerOf(tx)));
            return true;
        });
        if (isDone) break;
        before = await cursorOf(store);
        try {
            answer = await http.get('/v1/threads/' + thread.id);
        } catch {
            // The thread is gone, or its events bring it.
            break;
        }
    }
    return thread;
}

/** @param {Store} store @returns {Promise<string | undefined>} */
function cursorOf(store) {
    return store.read(['meta'], async (tx) => (await tx.get('meta', 'cursor'))?.value);
}
