// Replays Tests/ClientVectors through the reducer and the store in memory.

/** @import { Changes, Event, Reader, StoredThread } from '../../Sources/WebClient/page/core/state/records.js' */

import { foldAccount, foldReload } from '../../Sources/WebClient/page/core/state/fold-reload.js';
import * as fold from '../../Sources/WebClient/page/core/state/fold.js';
import { lacksLastMessage } from '../../Sources/WebClient/page/core/state/thread.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { applyChanges, readerOf, recordTables } from '../../Sources/WebClient/page/core/store/records.js';
import { commitNewThread } from '../../Sources/WebClient/page/core/sync/answers.js';
import { commitEvents, fetchMembers, fetchPage } from '../../Sources/WebClient/page/core/sync/commit.js';
import { assertSame } from './assertions.js';

const folder = new URL('../ClientVectors/', import.meta.url);

for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith('.json')) continue;
    for (const isTogether of [true, false]) {
        Deno.test(`the reducer shows what ${name} expects, events ${isTogether ? 'together' : 'one by one'}`, async () => {
            await replay(JSON.parse(await Deno.readTextFile(new URL(name, folder))), isTogether);
        });
    }
}

/**
 * @param {{user: string, steps: any[]}} vector
 * @param {boolean} isTogether whether the events of a step are folded in one call
 */
async function replay(vector, isTogether) {
    const device = new Device(vector.user, isTogether);
    for (const [index, step] of vector.steps.entries()) {
        const [kind] = Object.keys(step);
        try {
            await device.take(kind, step[kind], vector.steps[index + 1] ?? {});
        } catch (error) {
            throw new Error(`step ${index + 1} (${kind}): ${error instanceof Error ? error.message : error}`);
        }
    }
}

/** A client without a network: it applies the steps of a vector. */
class Device {
    #userID;
    #isTogether;
    #store = new MemoryStore();
    /** @type {string[] | undefined} */
    #staleThreads;
    /** @type {Map<string, unknown>} */
    #expectedThreads = new Map();
    /** The requests that are on their way. @type {Map<number, LateRequest>} */
    #requests = new Map();
    #cursor = 0;

    /**
     * @param {string} userID
     * @param {boolean} isTogether
     */
    constructor(userID, isTogether) {
        this.#userID = userID;
        this.#isTogether = isTogether;
    }

    /**
     * @param {string} kind
     * @param {any} content
     * @param {any} next the step after this one
     */
    async take(kind, content, next) {
        if (kind === 'ask') return this.#requests.set(content.asked, new LateRequest(this.#store, content));
        if (content.asked) return await this.#requests.get(content.asked)?.finish(kind, content);
        switch (kind) {
            case 'account':
                return await this.#apply((reader) => foldAccount(content, reader));
            case 'expired':
                this.#staleThreads = content.threads.map((/** @type {{id: string}} */ { id }) => id);
                return;
            case 'inbox': {
                if (!this.#staleThreads) await this.#startAgain();
                const stale = this.#staleThreads ?? [];
                this.#staleThreads = undefined;
                return await this.#apply((reader) => foldReload(content.threads, stale, reader));
            }
            case 'thread':
                return await this.#apply((reader) => fold.foldInbox([content], reader));
            case 'inbox_page':
                return await this.#apply((reader) => fold.foldInbox(content.threads, reader));
            case 'events':
                for (
                    const events of this.#isTogether ? [content] : content.map((/** @type {Event} */ event) => [event])
                ) {
                    await this.#applyEvents(events);
                }
                return await this.#checkLastMessages(next);
            case 'messages':
                return await this.#apply((reader) => fold.foldPage(content.answer, content, content.thread_id, reader));
            case 'members':
                return await this.#apply((reader) => fold.foldMembers(content.members, content.thread_id, reader));
            case 'expect':
                return await this.#read((reader) => this.#compare(content, reader));
            default:
                throw new Error('unknown step');
        }
    }

    /** @param {Event[]} events */
    async #applyEvents(events) {
        const before = String(this.#cursor);
        const cursor = String(this.#cursor += 1);
        await this.#store.write(['meta'], (tx) => tx.put('meta', { key: 'cursor', value: before }));
        await commitEvents(this.#store, { events, cursor }, before, this.#userID);
    }

    /** @param {(reader: Reader) => Promise<Changes> | Changes} change */
    async #apply(change) {
        await this.#store.write(recordTables, async (tx) => applyChanges(tx, await change(readerOf(tx))));
    }

    /**
     * @template T
     * @param {(reader: Reader) => Promise<T>} body
     */
    async #read(body) {
        return await this.#store.read(recordTables, (tx) => body(readerOf(tx)));
    }

    async #startAgain() {
        const account = await this.#read((reader) => reader.account());
        await this.#store.erase();
        if (account) await this.#apply((reader) => foldAccount(account, reader));
    }

    /** The vector has a page for each thread whose last message the device lacks.
     * @param {any} next
     */
    async #checkLastMessages(next) {
        const threads = await this.#read((reader) => reader.threads());
        const lacking = threads.find(lacksLastMessage);
        if (lacking && !next.messages && !next.thread) throw new Error(`the last message of ${lacking.id} is unknown`);
    }

    /**
     * @param {any} expected
     * @param {Reader} reader
     */
    async #compare(expected, reader) {
        const inbox = fold.inboxOf(await reader.threads());
        assertSame(inbox.threads.map(({ id }) => id), expected.order, 'order');
        assertSame(inbox.unreadTotal, expected.unread_total, 'unread_total');
        for (const thread of expected.threads) this.#expectedThreads.set(thread.id, thread);
        for (const thread of /** @type {StoredThread[]} */ (inbox.threads)) {
            const { ranges: _ranges, countedSeq: _countedSeq, ...shown } = thread;
            assertSame(withoutPresence(shown), this.#expectedThreads.get(thread.id), `thread ${thread.id}`);
            const messages = await reader.messages(thread.id);
            assertSame(messages.map(({ seq }) => seq), expected.seqs[thread.id] ?? [], `seqs of ${thread.id}`);
            if (expected.messages) assertSame(messages, expected.messages[thread.id] ?? [], `messages of ${thread.id}`);
        }
        for (const [id, members] of Object.entries(expected.members ?? {})) {
            const shown = presentMembers(await reader.members(id) ?? []);
            assertSame(shown, presentMembers(members), `members of ${id}`);
        }
        const account = await reader.account();
        assertSame(account?.user, expected.account.user, 'user');
        assertSame(account?.blocked.toSorted(), expected.account.blocked, 'blocked');
    }
}

/** A request whose answer arrives in a later step. If the page asks again, no further answer comes: it has everything. */
class LateRequest {
    /** @type {(answer: any) => void} */
    #answer = () => {};
    #end;

    /** @param {MemoryStore} store @param {any} content */
    constructor(store, { kind, thread_id: id, before, after }) {
        const { promise, resolve } = Promise.withResolvers();
        this.#answer = resolve;
        let count = 0;
        const ask = () => (count += 1) === 1 ? promise : Promise.reject(new Error('asked again'));
        /** @type {any} */
        const http = { get: ask, list: ask };
        const ways = {
            messages: () => fetchPage(store, http, id, { before, after }),
            members: () => fetchMembers(store, http, id),
            thread: () => commitNewThread(store, http, ask),
        };
        this.#end = ways[/** @type {keyof ways} */ (kind)]().catch(() => {});
    }

    /** @param {string} kind @param {any} content */
    async finish(kind, content) {
        this.#answer(kind === 'members' ? content.members : content.answer);
        await this.#end;
    }
}

/** @param {import('../../Sources/WebClient/page/core/types.js').Thread} thread */
function withoutPresence(thread) {
    return thread.peer ? { ...thread, peer: { ...thread.peer, presence: null, last_seen_at: null } } : thread;
}

/** @param {import('../../Sources/WebClient/page/core/types.js').Member[]} members */
function presentMembers(members) {
    const present = members.filter(({ status }) => status === 'invited' || status === 'joined');
    return present.sort((left, right) => left.user.id < right.user.id ? -1 : 1);
}
