// The loaded part of a thread: a window over the stored messages that fetches what the store lacks.

import { LiveValue } from './live.js';
import { sleep } from './http/back-off.js';
import { Problem, problemOf } from './http/problem.js';
import { withOwnReactions } from './state/message.js';
import { holes, rangeAt } from './state/ranges.js';
import { fetchPage } from './sync/commit.js';

/** @typedef {import('./types.js').Row} Row */
/** @typedef {import('./types.js').TimelineView} TimelineView */
/** @typedef {import('./types.js').Message} Message */
/** @typedef {import('./state/records.js').StoredThread} StoredThread */
/** @typedef {{store: import('./store/schema.js').Store, http: import('./http/http.js').HTTP, userID: string,
 * shownThread: () => StoredThread | undefined, message: (threadID: string, id: string) => Promise<Message | null>,
 * onClose: () => void}} Means `shownThread`: the thread with the read mark that
 * is still on its way */

const pageSize = 50;
const mostRows = 200;

/** A thread that is not there (any more) is shown as an empty one. */
const noThread = /** @type {any} */ ({ ranges: [], head: 0, me: { hidden_before_seq: 0 } });

/** A window from `#from` to `#to`, both included. A window that follows has no end: new messages come into it. */
export class ThreadTimeline {
    /** @type {LiveValue<TimelineView>} */
    view = new LiveValue();
    #means;
    #from = 1;
    #to = Infinity;
    /** @type {number | null} */
    #firstUnread = null;
    #loads = 0;
    #moves = 0;
    /** Whether a call of `goTo` decides where the timeline opens. */
    #isMoved = false;
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
    /** Called at the next change of the store. @type {(() => void)[]} */
    #onchange = [];

    /** @param {string} threadID @param {Means} means */
    constructor(threadID, means) {
        this.threadID = threadID;
        this.#means = means;
    }

    /** Opens at the first unread message, else at the newest. */
    async open() {
        // The thread in memory saves a read of the store, which would delay the first messages.
        const known = this.#means.shownThread() ?? await this.#stored();
        // A thread that is about to arrive opens then.
        if (!known || this.#isMoved) return;
        const { unread_count, me } = known;
        if (unread_count > 0) {
            this.#readSeq = me.read_seq;
            this.#firstUnread = me.read_seq + 1;
        }
        try {
            await this.goTo(this.#firstUnread === null ? 'newest' : { seq: this.#firstUnread }, known);
        } catch (error) {
            // Offline, what the store has is shown.
            if (!problemOf(error).isTemporary) throw error;
        }
    }

    /** The store has changed. */
    changed() {
        for (const resume of this.#onchange.splice(0)) resume();
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
        for (const resume of this.#onchange.splice(0)) resume();
        this.#means.onClose();
    }

    async loadOlder() {
        await this.#loading(async () => {
            const move = this.#moves;
            const bottom = bottomOf(await this.#thread());
            let first = this.#from;
            let isEmpty = true;
            // A page may be empty: the user has deleted all of its messages.
            while (isEmpty && first > bottom) {
                const last = first - 1;
                first = Math.max(bottom, first - pageSize);
                await this.#ensure(first, last);
                isEmpty = !await this.#messages(first, last).then(({ length }) => length);
            }
            const { head } = await this.#thread();
            if (move === this.#moves) this.#place(first, Math.min(this.#to, first + mostRows - 1), head);
        });
    }

    async loadNewer() {
        await this.#loading(async () => {
            if (this.#to === Infinity) return;
            const move = this.#moves;
            const last = this.#to + pageSize;
            await this.#ensure(this.#to + 1, last);
            const { head } = await this.#thread();
            if (move === this.#moves) this.#place(Math.max(this.#from, last - mostRows + 1), last, head);
        });
    }

    /** Without the message, a timeline that is not open yet opens as it would without this call.
     * @param {{seq: number} | {id: string} | 'newest'} place
     * @param {StoredThread} [known] */
    async goTo(place, known) {
        await this.#loading(async () => {
            const move = this.#moves += 1;
            this.#isMoved = true;
            if (place !== 'newest' && 'id' in place) {
                try {
                    place = { seq: await this.#seqOf(place.id) };
                } catch (error) {
                    if (move === this.#moves && !this.#isOpen) {
                        this.#isMoved = false;
                        await this.open();
                    }
                    throw error;
                }
                await this.#arrival();
            }
            const { ranges, head, ...thread } = known ?? await this.#thread();
            const middle = place === 'newest' ? head : place.seq;
            // The last call decides where the window is.
            if (move !== this.#moves) return;
            this.#place(Math.max(bottomOf(thread), middle - pageSize + 1), middle + pageSize, head);
            // Stored messages are shown at once, unless the place itself is missing: the user would see other messages
            // first, and they would count as read.
            if (rangeAt(ranges, middle)) {
                this.#isOpen = !this.#end.signal.aborted;
                await this.#refresh();
            }
            try {
                await this.#ensure(this.#from, this.#to);
            } catch (error) {
                if (move === this.#moves) await this.#showNearest(middle);
                throw error;
            } finally {
                this.#isOpen = !this.#end.signal.aborted;
            }
        });
    }

    /** Moves both ends of the window at once, so that no view is between. At the thread's head it has no end.
     * @param {number} from @param {number} to @param {number} head */
    #place(from, to, head) {
        this.#from = from;
        this.#to = to >= head ? Infinity : to;
    }

    /** Offline: shows the stored messages nearest to a place that is not stored.
     * @param {number} middle */
    async #showNearest(middle) {
        const { ranges, head } = await this.#thread();
        const range = ranges.findLast(([first]) => first <= middle) ?? ranges[0];
        if (!range || rangeAt(ranges, middle)) return;
        this.#place(Math.max(range[0], Math.min(range[1], middle) - pageSize), range[1], head);
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
            await fetchPage(store, http, this.threadID, { after: hole[0] - 1, limit });
        }
    }

    /** @param {string} id of a message */
    async #seqOf(id) {
        const message = await this.#means.message(this.threadID, id);
        if (message) return message.seq;
        throw new Problem({ status: 404, code: 'message_not_found', detail: 'There is no such message any more.' });
    }

    /** Waits for a thread that is about to arrive: without its head, a window in its middle would have no end. */
    async #arrival() {
        while (!this.#end.signal.aborted) {
            /** @type {Promise<void>} */
            const change = new Promise((resolve) => this.#onchange.push(resolve));
            if (await this.#stored()) return;
            await change;
        }
    }

    #stored() {
        return this.#means.store.read(['threads'], (tx) => tx.get('threads', this.threadID));
    }

    /** @returns {Promise<StoredThread>} */
    async #thread() {
        return await this.#stored() ?? noThread;
    }

    /** @param {number} first @param {number} last @returns {Promise<Message[]>} */
    #messages(first, last) {
        const span = { from: [this.threadID, first], to: [this.threadID, last] };
        return this.#means.store.read(['messages'], (tx) => tx.all('messages', span));
    }

    /** Shows the window as the store has it now. Calls while one runs make one more run.
     * @returns {Promise<void>} */
    #refresh() {
        this.#isDirty = true;
        this.#refreshing ??= (async () => {
            // While the timeline is not open, a run shows nothing. It still ends after the assignment above: an ended
            // run that stays in `#refreshing` would keep every later change from the view.
            await Promise.resolve();
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
        const [start, to, moves] = [this.#from, this.#to, this.#moves];
        const { thread, stored, waiting } = await this.#read(start, to);
        const { head, ranges } = thread;
        // A window that follows loses rows above.
        const from = to === Infinity ? Math.max(start, head - mostRows + 1) : start;
        const messages = stored.filter(({ seq }) => seq >= from);
        if (start !== this.#from || to !== this.#to || moves !== this.#moves) return void (this.#isDirty = true);
        this.#from = from;
        const missing = holes(ranges, from, Math.min(to, head));
        const isBroken = missing.length > 0 && this.#loads === 0 && !this.#isOutOfReach;
        if (isBroken && this.#isWithinReach(missing, head)) {
            void this.#repair(missing);
            // The rows on the screen stay until they are fetched again.
            const shown = this.view.value?.rows.at(-1)?.message.seq ?? 0;
            if (missing[0][0] <= shown) return;
        }
        this.#placeDivider(messages, ranges);
        this.view.set({
            rows: this.#keepingRows([...messages.map(rowOf), ...waiting]),
            atStart: from <= bottomOf(thread),
            atEnd: to >= head,
            firstUnread: this.#firstUnread,
            isLoading: this.#loads > 0,
        });
    }

    /** Reads the thread, its messages of an interval with the user's own reactions that the server does not have yet, and the
     * rows of messages that are being sent. One transaction: a message that is sent meanwhile is in one of the two.
     * @param {number} first @param {number} last
     * @returns {Promise<{thread: StoredThread, stored: Message[], waiting: Row[]}>} */
    #read(first, last) {
        const span = { from: [this.threadID, first], to: [this.threadID, last] };
        const tables = /** @type {const} */ (['threads', 'messages', 'reactions', 'outbox', 'files']);
        return this.#means.store.read([...tables], async (tx) => {
            const [thread, messages, reactions, entries, files] = await Promise.all([
                tx.get('threads', this.threadID),
                tx.all('messages', span),
                tx.all('reactions'),
                tx.all('outbox'),
                tx.all('files'),
            ]);
            const own = (/** @type {string} */ id) => files.filter(({ message_id }) => message_id === id);
            return {
                thread: thread ?? noThread,
                stored: reactions.length === 0
                    ? messages
                    : messages.map((message) => withOwnReactions(message, reactions)),
                waiting: entries.filter(({ thread_id }) => thread_id === this.threadID)
                    .map(({ id, message, state, problem }) => (
                        { key: id, message, state, ...(problem ? { problem } : {}), files: own(id) }
                    )),
            };
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

    /** Moves the divider to the first message after the read mark that counts as unread, once it and all between are loaded.
     * @param {Message[]} messages @param {StoredThread['ranges']} ranges */
    #placeDivider(messages, ranges) {
        const readSeq = this.#readSeq;
        if (readSeq === null || this.#isDividerPlaced || this.#from > readSeq + 1) return;
        const first = messages.find(({ seq, sender, deleted_at }) =>
            seq > readSeq && sender !== null && sender.id !== this.#means.userID && deleted_at === null
        );
        const known = rangeAt(ranges, readSeq + 1);
        if (!first || !known || known[1] < first.seq) return;
        this.#firstUnread = first.seq;
        this.#isDividerPlaced = true;
    }

    /** Returns the rows, with the objects of the last view for those that are equal.
     * @param {Row[]} rows */
    #keepingRows(rows) {
        const known = new Map(this.view.value?.rows.map((row) => [row.key, row]));
        /** @type {Map<string, Row>} */
        const kept = new Map();
        for (const row of rows) {
            const old = known.get(row.key);
            const isEqual = old && JSON.stringify(old) === JSON.stringify(row);
            // A message that is stored and not out of the outbox yet has one row.
            if (!kept.has(row.key)) kept.set(row.key, isEqual ? old : row);
        }
        return [...kept.values()];
    }
}

/** @param {Message} message @returns {Row} */
function rowOf(message) {
    return { key: message.id, message, state: 'stored', files: [] };
}

/** The first seq that the caller may see.
 * @param {{me: {hidden_before_seq: number}}} thread */
function bottomOf({ me }) {
    return Math.max(1, me.hidden_before_seq);
}
