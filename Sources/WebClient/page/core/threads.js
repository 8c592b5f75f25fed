// The threads of the store as live values.

import { LiveValue } from './live.js';
import { inboxOf } from './state/fold.js';
import { withReadMark } from './sync/read-marks.js';

/** @typedef {import('./types.js').Inbox} Inbox */
/** @typedef {import('./types.js').Thread} Thread */
/** @typedef {import('./state/records.js').StoredThread} StoredThread */

/** All threads, kept in memory. A changed thread is read again. */
export class Threads {
    /** @type {LiveValue<Inbox>} */
    inbox = new LiveValue();
    #store;
    /** @type {Map<string, StoredThread>} */
    #threads = new Map();
    /** @type {Map<string, LiveValue<Thread | null>>} */
    #values = new Map();
    /** @type {Set<string>} */
    #changed = new Set();
    /** Threads with a message that is sent and not among their events yet: when it was written, and the threads' activity
     * before it. @type {Map<string, {at: string, before: string}>} */
    #sent = new Map();
    #isReadingAll = false;
    /** Counts sessions: what was read for an earlier one is dropped. */
    #generation = 0;
    /** @type {Promise<void> | null} */
    #reading = null;

    /** @param {import('./store/schema.js').Store} store */
    constructor(store) {
        this.#store = store;
    }

    /** @param {string} id @returns {LiveValue<Thread | null>} */
    thread(id) {
        const known = this.#values.get(id);
        if (known) return known;
        /** @type {LiveValue<Thread | null>} */
        const value = new LiveValue();
        if (this.inbox.value) value.set(this.#threads.get(id) ?? null);
        this.#values.set(id, value);
        return value;
    }

    /** @param {string} id */
    get(id) {
        return this.#threads.get(id);
    }

    /** Reads what changed.
     * @param {string[]} ids
     * @returns {Promise<void>} */
    refresh(ids) {
        for (const id of ids) this.#changed.add(id);
        return this.#schedule();
    }

    /** Reads everything: at the start, and after the inbox was loaded.
     * @returns {Promise<void>} */
    refreshAll() {
        this.#isReadingAll = true;
        return this.#schedule();
    }

    clear() {
        this.#generation += 1;
        this.#threads.clear();
        this.#sent.clear();
        this.inbox.reset();
        for (const value of this.#values.values()) value.set(null);
        this.#values.clear();
    }

    #schedule() {
        this.#reading ??= (async () => {
            try {
                await Promise.resolve();
                while (this.#isReadingAll || this.#changed.size > 0) await this.#read();
            } finally {
                this.#reading = null;
            }
        })();
        return this.#reading;
    }

    async #read() {
        const isAll = this.#isReadingAll;
        const generation = this.#generation;
        const ids = [...this.#changed];
        this.#isReadingAll = false;
        this.#changed.clear();
        const tables = /** @type {import('./store/schema.js').Table[]} */ (['meta', 'threads', 'marks', 'outbox']);
        const { cursor, threads, marks, outbox } = await this.#store.read(tables, async (tx) => ({
            cursor: await tx.get('meta', 'cursor'),
            outbox: await tx.all('outbox'),
            threads: isAll ? await tx.all('threads') : await Promise.all(ids.map((id) => tx.get('threads', id))),
            marks: new Map((await tx.all('marks')).map((mark) => [mark.thread_id, mark])),
        }));
        if (generation !== this.#generation) return;
        if (isAll) this.#threads.clear();
        else for (const id of ids) this.#threads.delete(id);
        for (const thread of threads) {
            if (!thread) continue;
            const entry = outbox.findLast(({ thread_id, state }) => thread_id === thread.id && state === 'sending');
            this.#threads.set(thread.id, this.#withEntry(withReadMark(thread, marks.get(thread.id)), entry));
        }
        // Without a cursor nothing is known yet, not even that there are no threads.
        if (!cursor) return;
        this.inbox.set(inboxOf([...this.#threads.values()]));
        for (const id of isAll ? this.#values.keys() : ids) this.#values.get(id)?.set(this.#threads.get(id) ?? null);
    }

    /** Returns the thread with a message of the outbox as its last one. Its place in the inbox stays until the event of the
     * message comes.
     * @param {StoredThread} thread
     * @param {import('./sync/outbox.js').OutboxEntry | undefined} entry
     * @returns {StoredThread} */
    #withEntry(thread, entry) {
        const { id, last_activity_at: before } = thread;
        if (entry) this.#sent.set(id, { at: entry.message.timestamp, before });
        const sent = this.#sent.get(id);
        if (sent?.before !== before) {
            this.#sent.delete(id);
            return thread;
        }
        const last_activity_at = sent.at > before ? sent.at : before;
        return { ...thread, last_activity_at, last_message: entry?.message ?? thread.last_message };
    }
}
