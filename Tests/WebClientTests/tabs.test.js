// Several tabs of one browser: one of them polls, and all of them show the same.

import assert from 'node:assert/strict';
import { Chat } from '../../Sources/WebClient/page/core/chat.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { pass } from './support/clock.js';
import { eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

/** The store of one tab over the rows of all. A tab that has ended gets no answer.
 * @param {MemoryStore} rows @param {(topics: string[]) => void} publish @param {AbortSignal} signal
 * @returns {import('../../Sources/WebClient/page/core/store/schema.js').Store} */
function sharedStore(rows, publish, signal) {
    const never = new Promise(() => {});
    return {
        isShared: true,
        read: async (tables, work) => {
            if (signal.aborted) await never;
            return await rows.read(tables, work);
        },
        write: async (tables, work) => {
            if (signal.aborted) await never;
            /** @type {Set<string>} */
            const topics = new Set();
            const result = await rows.write(tables, (tx) => work({ ...tx, publish: (topic) => topics.add(topic) }));
            if (topics.size > 0) publish([...topics]);
            return result;
        },
        erase: () => rows.erase(),
        close: () => {},
    };
}

/** A browser: a store and a channel that its tabs share, with Web Locks or without. */
class Browser {
    /** @type {Set<Tab>} */
    tabs = new Set();
    #server;
    #hasLocks;
    #rows = new MemoryStore();

    /** @param {FakeServer} server @param {boolean} hasLocks */
    constructor(server, hasLocks) {
        this.#server = server;
        this.#hasLocks = hasLocks;
    }

    async open() {
        const tab = new Tab(this, this.#server, this.#rows, this.#hasLocks);
        this.tabs.add(tab);
        await tab.chat.start();
        return tab;
    }
}

class Tab {
    /** The death of a tab ends its requests, its timers' effects, and its messages. */
    end = new AbortController();
    chat;

    /** @param {Browser} browser @param {FakeServer} server @param {MemoryStore} rows @param {boolean} hasLocks */
    constructor(browser, server, rows, hasLocks) {
        const { signal } = this.end;
        // deno-lint-ignore no-this-alias
        const tab = this;
        /** @type {any} */
        const channel = class extends EventTarget {
            constructor() {
                super();
                tab.channel = this;
            }
            /** @param {unknown} data */
            postMessage(data) {
                if (signal.aborted) return;
                for (const other of browser.tabs) {
                    if (other !== tab) {
                        queueMicrotask(() => other.channel?.dispatchEvent(new MessageEvent('message', { data })));
                    }
                }
            }
            close() {}
        };
        /** @type {any} */
        const locks = {
            /** @param {string} name @param {{signal: AbortSignal}} options @param {() => Promise<void>} work */
            request: (name, options, work) =>
                navigator.locks.request(
                    name,
                    { signal: AbortSignal.any([options.signal, signal]) },
                    () => Promise.race([work(), new Promise((resolve) => signal.addEventListener('abort', resolve))]),
                ),
        };
        /** @type {typeof server.fetch} */
        const fetch = (input, init = {}) =>
            server.fetch(input, { ...init, signal: AbortSignal.any([signal, init.signal ?? signal]) });
        const openStore = /** @param {(topics: string[]) => void} publish */ (publish) =>
            Promise.resolve(sharedStore(rows, publish, signal));
        this.chat = new Chat({ fetch, locks: hasLocks ? locks : null, BroadcastChannel: channel, openStore });
    }

    /** @type {EventTarget | null} */
    channel = null;
}

/** Ann, signed in in the first tab of a browser, and Ben, who share a thread.
 * @param {boolean} hasLocks
 */
async function signedIn(hasLocks) {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const browser = new Browser(server, hasLocks);
    const first = await browser.open();
    await first.chat.signIn({ username: 'ann', password: 'a river of tea' });
    return { server, ben, thread, browser, first };
}

for (const hasLocks of [true, false]) {
    const way = hasLocks ? 'with Web Locks' : 'without Web Locks';

    Deno.test(`seven tabs have one poll and the same inbox, ${way}`, async () => {
        const { server, ben, thread, browser, first } = await signedIn(hasLocks);
        const tabs = [first];
        for (let n = 2; n <= 7; n += 1) tabs.push(await browser.open());
        for (const { chat } of tabs) await until(chat.connection, (connection) => connection === 'connected');
        await eventually(() => server.waitingPolls === 1);
        const inboxes = server.requests.filter((request) => request === 'GET /v1/inbox');
        assert.equal(inboxes.length, 1);
        server.say(thread, ben, 'hello');
        for (const { chat } of tabs) await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
        // A tab that does not lead sends, too; the leader's outbox does it.
        const timelines = tabs.map(({ chat }) => chat.openTimeline(thread.id));
        for (const [place, { chat }] of tabs.entries()) await chat.send(thread.id, { text: `from tab ${place}` });
        for (const timeline of timelines) {
            const view = await until(timeline.view, ({ rows }) => rows.length === 8 && rows[7].state === 'stored');
            assert.deepEqual(texts(view).slice(1), tabs.map((_, place) => `from tab ${place}`));
        }
        await eventually(() => server.waitingPolls === 1);
        for (const { chat } of tabs) chat.close();
    });

    Deno.test(`when the leader dies another tab goes on from the stored cursor, ${way}`, async () => {
        const { server, ben, thread, browser, first } = await signedIn(hasLocks);
        await until(first.chat.connection, (connection) => connection === 'connected');
        const second = await browser.open();
        const third = await browser.open();
        server.say(thread, ben, 'one');
        await until(third.chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
        first.end.abort();
        browser.tabs.delete(first);
        server.say(thread, ben, 'two');
        await until(third.chat.inbox, ({ unreadTotal }) => unreadTotal === 2, 15);
        await until(second.chat.inbox, ({ unreadTotal }) => unreadTotal === 2);
        await eventually(() => server.waitingPolls === 1);
        assert.equal(server.requests.filter((request) => request === 'GET /v1/inbox').length, 1);
        for (const { chat } of [first, second, third]) chat.close();
    });

    Deno.test(`signing out in one tab signs out all, ${way}`, async () => {
        const server = new FakeServer();
        server.addThread([server.addUser('Ann'), server.addUser('Ben')]);
        const browser = new Browser(server, hasLocks);
        const tabs = [await browser.open(), await browser.open()];
        await tabs[0].chat.signIn({ username: 'ann', password: 'a river of tea' });
        await until(tabs[1].chat.session, (session) => session !== null);
        await until(tabs[1].chat.inbox, ({ threads }) => threads.length === 1);
        await tabs[1].chat.signOut();
        await until(tabs[0].chat.session, (session) => session === null);
        await tabs[0].chat.signIn({ username: 'ben', password: 'a hill of toast' });
        await until(tabs[1].chat.session, (session) => session?.user.name === 'Ben');
        await until(tabs[1].chat.inbox, ({ threads }) => threads.length === 1);
        for (const { chat } of tabs) chat.close();
    });
}

Deno.test('without Web Locks a tab that is closed frees the lease at once', async () => {
    const { server, ben, thread, browser, first } = await signedIn(false);
    await eventually(() => server.waitingPolls === 1);
    const second = await browser.open();
    globalThis.dispatchEvent(new Event('pagehide'));
    await pass(0);
    first.end.abort();
    browser.tabs.delete(first);
    server.say(thread, ben, 'hello');
    // Sooner than the second tab tries to claim the lease by itself.
    await until(second.chat.inbox, ({ unreadTotal }) => unreadTotal === 1, 1);
    for (const { chat } of [first, second]) chat.close();
});
