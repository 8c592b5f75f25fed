// Read marks on their way to the server.

import { BackOff, forever, sleep } from '../http/back-off.js';
import { problemOf } from '../http/problem.js';

/** A read mark that the server has not confirmed by an event yet. `read` of the unread messages up to it are stored;
 * `isAnswered` once the server has it.
 * @typedef {{thread_id: string, read: number, count: number, isAnswered: boolean}} Mark */

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../types.js').Thread} Thread */

/** Moves a thread's read mark forward in the store. The leader sends it.
 * @param {Store} store
 * @param {string} threadID
 * @param {number} seq
 * @param {string} userID */
export function putReadMark(store, threadID, seq, userID) {
    return store.write(['threads', 'messages', 'marks'], async (tx) => {
        const thread = await tx.get('threads', threadID);
        const mark = await tx.get('marks', threadID);
        if (!thread) return;
        const read = Math.min(seq, thread.head);
        if (read <= thread.me.read_seq || read <= (mark?.read ?? 0)) return;
        const passed = await tx.all('messages', { from: [threadID, thread.me.read_seq + 1], to: [threadID, read] });
        const count = passed.filter(({ sender, deleted_at }) => sender && sender.id !== userID && !deleted_at).length;
        tx.put('marks', { thread_id: threadID, read, count, isAnswered: false });
        tx.publish('mark/' + threadID);
    });
}

/** Drops marks that events have confirmed.
 * @param {import('../store/schema.js').Transaction} tx
 * @param {Map<string, Thread | null>} threads those that changed */
export async function forgetReadMarks(tx, threads) {
    for (const [id, thread] of threads) {
        const mark = await tx.get('marks', id);
        if (!mark || thread && thread.me.read_seq < mark.read) continue;
        tx.delete('marks', id);
        tx.publish('mark/' + id);
    }
}

/** Returns the thread as if the server had the mark.
 * @template {Thread} T
 * @param {T} thread
 * @param {Mark | undefined} mark
 * @returns {T} */
export function withReadMark(thread, mark) {
    if (!mark || mark.read <= thread.me.read_seq) return thread;
    const unread = Math.max(0, Math.min(thread.unread_count - mark.count, thread.head - mark.read));
    return {
        ...thread,
        unread_count: unread,
        mention_count: Math.min(thread.mention_count, unread),
        me: { ...thread.me, read_seq: mark.read },
    };
}

/** Sends read marks from the store until the signal aborts. */
export class ReadMarkSender {
    #store;
    #http;
    #wake = new AbortController();

    /** @param {{store: Store, http: import('../http/http.js').HTTP}} means */
    constructor({ store, http }) {
        this.#store = store;
        this.#http = http;
    }

    /** There may be marks to send. */
    nudge() {
        this.#wake.abort();
    }

    /** @param {AbortSignal} signal */
    async run(signal) {
        const backOff = new BackOff();
        while (!signal.aborted) {
            const wake = this.#wake = new AbortController();
            try {
                const marks = await this.#store.read(['marks'], (tx) => tx.all('marks'));
                const waiting = marks.filter(({ isAnswered }) => !isAnswered);
                if (waiting.length > 0) await this.#send(waiting.slice(0, 1000), signal);
                backOff.reset();
                if (waiting.length === 0) await sleep(forever, signal, wake.signal);
                // More marks may follow within moments: one request for all.
                await sleep(400, signal);
            } catch (error) {
                await sleep(backOff.next(problemOf(error)), signal, wake.signal);
            }
        }
    }

    /** @param {Mark[]} marks @param {AbortSignal} signal */
    async #send(marks, signal) {
        const receipts = marks.map(({ thread_id, read }) => ({ thread_id, read }));
        try {
            await this.#http.call('POST', '/v1/receipts', { json: { receipts }, signal });
            await this.#settle(marks, true);
        } catch (error) {
            if (problemOf(error).isTemporary) throw error;
            // One of them is refused for ever, such as that of a thread that the user has left.
            if (marks.length === 1) return await this.#settle(marks, false);
            for (const mark of marks) await this.#send([mark], signal);
        }
    }

    /** @param {Mark[]} marks @param {boolean} isAnswered false: refused */
    #settle(marks, isAnswered) {
        return this.#store.write(['threads', 'marks'], async (tx) => {
            for (const { thread_id: id, read } of marks) {
                const mark = await tx.get('marks', id);
                if (mark?.read !== read) continue;
                const isConfirmed = (await tx.get('threads', id))?.me.read_seq >= read;
                if (isAnswered && !isConfirmed) tx.put('marks', { ...mark, isAnswered });
                else tx.delete('marks', id);
                tx.publish('mark/' + id);
            }
        });
    }
}
