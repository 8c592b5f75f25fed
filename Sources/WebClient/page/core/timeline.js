// The loaded part of a thread: a window over the stored messages that fetches what the store lacks.

import { LiveValue } from './live.js';
import { sleep } from './http/back-off.js';
import { problemOf } from './http/problem.js';
import { holes } from './state/ranges.js';
import { fetchPage } from './sync/commit.js';

/** @typedef {import('./types.js').Row} Row */
/** @typedef {import('./types.js').TimelineView} TimelineView */
/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./state/records.js').StoredThread} StoredThread */
/** @typedef {{store: import('./store/schema.js').Store, http: import('./http/http.js').HTTP, userID: string,
 * shownThread: () => StoredThread | undefined, onClose: () => void}} Means `shownThread`: the thread with the read mark that
 * is still on its way */

const pageSize = 50;
const mostRows = 200;

/** A window from `#from` to `#to`, both included. A window that follows has no end: new messages come into it. */
export class ThreadTimeline {
    /** @type {LiveValue<TimelineView>} */
    view = new LiveValue();
    #threadID;
    #means;
    #from = 1;
    #to = Infinity;
    /** @type {number | null} */
    #firstUnread = null;
    #loads = 0;
    #moves = 0;
    #isOpen = false;
    /** The read mark when the timeline was opened, if something was unread. @type {number | null} */
    #readSeq = null;
    #isRepairing = false;
    #isOutOfReach = false;
    #isDividerPlaced = false;
    #end = new AbortController();
    /** @type {Promise<void> | null} */
    #refreshing = null;
    #isDirty = false;

    /** @param {string} threadID @param {Means} means */
    constructor(threadID, means) {
        this.#threadID = threadID;
        this.#means = means;
    }

    /** Opens at the first unread message, else at the newest. */
    async open() {
        const stored = await this.#means.store.read(['threads'], (tx) => tx.get('threads', this.#threadID));
        // A thread that is about to arrive opens then.
        if (!stored || this.#moves > 0) return;
        const { unread_count, me } = this.#means.shownThread() ?? stored;
        if (unread_count > 0) {
            this.#readSeq = me.read_seq;
            this.#firstUnread = me.read_seq + 1;
        }
        try {
            await this.goTo(this.#firstUnread === null ? 'newest' : { seq: this.#firstUnread });
        } catch (error) {
            // Offline, what the store has is shown.
            if (!problemOf(error).isTemporary) throw error;
        }
    }

    /** The store has changed. */
    changed() {
        if (this.#isOpen) void this.#refresh();
        else if (!this.#end.signal.aborted) void this.open();
    }

    /** The server is there again: fetches what is missing. */
    reconnected() {
        this.#isOutOfReach = false;
        if (this.#isOpen) void this.#refresh();
    }

    close() {
        this.#end.abort();
        this.#isOpen = false;
        this.#means.onClose();
    }

    async loadOlder() {
        await this.#loading(async () => {
            const bottom = bottomOf(await this.#thread());
            while (this.#from > bottom) {
                const first = Math.max(bottom, this.#from - pageSize);
                await this.#ensure(first, this.#from - 1);
                this.#from = first;
                const rows = await this.#messages();
                // A page may be empty: the user has deleted all of its messages.
                if (rows.length > mostRows) this.#to = rows[mostRows - 1].seq;
                if (rows.some(({ seq }) => seq < first + pageSize)) break;
            }
        });
    }

    async loadNewer() {
        await this.#loading(async () => {
            const { head } = await this.#thread();
            if (this.#to === Infinity) return;
            const last = Math.min(head, this.#to + pageSize);
            await this.#ensure(this.#to + 1, last);
            this.#to = last >= head ? Infinity : last;
            await this.#dropAbove();
        });
    }

    /** @param {{seq: number} | {id: string} | 'newest'} place */
    async goTo(place) {
        await this.#loading(async () => {
            const move = this.#moves += 1;
            const thread = await this.#thread();
            const bottom = bottomOf(thread);
            const middle = place === 'newest' ? thread.head : 'seq' in place ? place.seq : await this.#seqOf(place.id);
            // The last call decides where the window is.
            if (move !== this.#moves) return;
            const after = place === 'newest' ? 0 : pageSize;
            this.#from = Math.max(bottom, middle - pageSize + 1);
            this.#to = middle + after >= thread.head ? Infinity : middle + after;
            this.#isOpen = true;
            // What the store has is shown at once, unless the place itself is missing.
            if (holes(thread.ranges, middle, middle).length === 0) await this.#refresh();
            try {
                await this.#ensure(this.#from, Math.min(this.#to, thread.head));
            } catch (error) {
                await this.#showNearest(middle);
                throw error;
            }
        });
    }

    /** Offline: shows the stored messages nearest to a place that is not stored.
     * @param {number} middle */
    async #showNearest(middle) {
        const { ranges, head } = await this.#thread();
        const range = ranges.findLast(([first]) => first <= middle) ?? ranges[0];
        if (!range || range[1] >= middle && range[0] <= middle) return;
        this.#from = Math.max(range[0], Math.min(range[1], middle) - pageSize);
        this.#to = Math.min(range[1], this.#from + mostRows);
        if (this.#to >= head) this.#to = Infinity;
    }

    /** Runs a load: shows that it runs, and its result.
     * @param {() => Promise<void>} work */
    async #loading(work) {
        this.#loads += 1;
        if (this.view.value) this.view.set({ ...this.view.value, isLoading: true });
        try {
            await work();
        } finally {
            this.#loads -= 1;
            await this.#refresh();
        }
    }

    /** Fetches the messages of an interval that the store lacks.
     * @param {number} first @param {number} last */
    async #ensure(first, last) {
        const { store, http } = this.#means;
        for (let requests = 0; requests < 10; requests += 1) {
            const thread = await this.#thread();
            const [hole] = holes(thread.ranges, Math.max(first, bottomOf(thread)), Math.min(last, thread.head));
            if (!hole || this.#end.signal.aborted) return;
            const limit = Math.min(200, hole[1] - hole[0] + 1);
            await fetchPage(store, http, this.#threadID, { after: hole[0] - 1, limit });
        }
    }

    /** @param {string} id of a message */
    async #seqOf(id) {
        const { store, http } = this.#means;
        const [known] = await store.read(['messages'], (tx) => tx.all('messages', { index: 'id', from: id, to: id }));
        return (known ?? await http.get(`/v1/threads/${this.#threadID}/messages/${id}`)).seq;
    }

    /** @returns {Promise<StoredThread>} */
    async #thread() {
        const thread = await this.#means.store.read(['threads'], (tx) => tx.get('threads', this.#threadID));
        // A thread that is not there (any more) is shown as an empty one.
        return thread ?? { ranges: [], head: 0, me: { hidden_before_seq: 0 } };
    }

    /** @returns {Promise<Message[]>} */
    #messages() {
        const id = this.#threadID;
        const span = { from: [id, this.#from], to: [id, this.#to] };
        return this.#means.store.read(['messages'], (tx) => tx.all('messages', span));
    }

    async #dropAbove() {
        const rows = await this.#messages();
        if (rows.length > mostRows) this.#from = rows[rows.length - mostRows].seq;
    }

    /** Shows the window as the store has it now. Calls while one runs make one more run.
     * @returns {Promise<void>} */
    #refresh() {
        this.#isDirty = true;
        this.#refreshing ??= (async () => {
            try {
                while (this.#isDirty && this.#isOpen) {
                    this.#isDirty = false;
                    await this.#show();
                }
            } finally {
                this.#refreshing = null;
            }
        })();
        return this.#refreshing;
    }

    async #show() {
        const id = this.#threadID;
        const span = { from: [id, this.#from], to: [id, this.#to] };
        const { thread, entries, files, ...read } = await this.#means.store.read(
            ['threads', 'messages', 'outbox', 'files'],
            async (tx) => ({
                thread: /** @type {StoredThread | undefined} */ (await tx.get('threads', id)),
                messages: /** @type {Message[]} */ (await tx.all('messages', span)),
                entries: (await tx.all('outbox')).filter((entry) => entry.thread_id === id),
                files: await tx.all('files'),
            }),
        );
        const messages = this.#to === Infinity ? read.messages.slice(-mostRows) : read.messages;
        if (messages.length < read.messages.length) this.#from = messages[0].seq;
        const ranges = thread?.ranges ?? [];
        const head = thread?.head ?? 0;
        const missing = holes(ranges, this.#from, Math.min(this.#to, head));
        const isBroken = missing.length > 0 && this.#loads === 0 && !this.#isOutOfReach;
        if (isBroken && this.#isWithinReach(missing, head)) {
            void this.#repair(missing);
            // The rows on the screen stay until they are fetched again.
            const shown = this.view.value?.rows.at(-1)?.message.seq ?? 0;
            if (missing[0][0] <= shown) return;
        }
        const stored = new Set(messages.map((message) => message.id));
        const waiting = entries.filter((entry) => !stored.has(entry.id));
        /** @type {Row[]} */
        const rows = messages.map((message) => ({ key: message.id, message, state: 'stored', files: [] }));
        for (const { id, message, state, problem } of waiting) {
            const own = files.filter((file) => file.message_id === id);
            rows.push({ key: id, message, state, ...(problem ? { problem } : {}), files: own });
        }
        this.#placeDivider(messages);
        this.view.set({
            rows: this.#keepingRows(rows),
            atStart: this.#from <= bottomOf(thread),
            atEnd: this.#to === Infinity || this.#to >= head,
            firstUnread: this.#firstUnread,
            isLoading: this.#loads > 0,
        });
    }

    /** A window that follows does not load a long absence: it ends where its messages end.
     * @param {[number, number][]} missing @param {number} head */
    #isWithinReach(missing, head) {
        if (this.#to !== Infinity || head - this.#from < 2 * mostRows) return true;
        this.#to = Math.max(this.#from, missing[0][0] - 1);
        this.#isDirty = true;
        return false;
    }

    /** Fetches missing messages within the window.
     * @param {[number, number][]} missing */
    async #repair(missing) {
        if (this.#isRepairing) return;
        this.#isRepairing = true;
        try {
            // An answered send may be ahead of the events: they usually follow at once.
            await sleep(300, this.#end.signal);
            await this.#ensure(missing[0][0], missing[missing.length - 1][1]);
        } catch {
            // Offline, what there is is shown. The next connection repairs it.
            this.#isOutOfReach = true;
        } finally {
            this.#isRepairing = false;
            void this.#refresh();
        }
    }

    /** Moves the divider to the first message after the read mark that counts as unread, once it is loaded.
     * @param {Message[]} messages */
    #placeDivider(messages) {
        const readSeq = this.#readSeq;
        if (readSeq === null || this.#isDividerPlaced || this.#from > readSeq + 1) return;
        const first = messages.find(({ seq, sender, deleted_at }) =>
            seq > readSeq && sender !== null && sender.id !== this.#means.userID && deleted_at === null
        );
        if (!first) return;
        this.#firstUnread = first.seq;
        this.#isDividerPlaced = true;
    }

    /** Returns the rows, with the objects of the last view for those that are equal.
     * @param {Row[]} rows */
    #keepingRows(rows) {
        const known = new Map(this.view.value?.rows.map((row) => [row.key, row]));
        return rows.map((row) => {
            const old = known.get(row.key);
            return old && JSON.stringify(old) === JSON.stringify(row) ? old : row;
        });
    }
}

/** The first seq that the caller may see.
 * @param {StoredThread | undefined} thread */
function bottomOf(thread) {
    return Math.max(1, thread?.me.hidden_before_seq ?? 0);
}
