// Devices without a browser, and ways to wait for them.

import { Chat } from '../../../Sources/WebClient/page/core/chat.js';
import { MemoryStore } from '../../../Sources/WebClient/page/core/store/memory-store.js';
import { machine, turn } from './clock.js';

/** Waits until a value passes `test`, and returns that value.
 * @template T
 * @param {import('../../../Sources/WebClient/page/core/types.js').Live<T>} live
 * @param {(value: T) => boolean} test
 * @param {number} [seconds] of the fake clock
 * @returns {Promise<T>} */
export function until(live, test, seconds) {
    return new Promise((resolve, reject) => {
        /** @type {T | undefined} */
        let last;
        const done = limit(test, seconds, (error) => {
            end();
            reject(new Error(`${error}; the last value is ${JSON.stringify(last)?.slice(0, 500)}`));
        });
        let isDone = false;
        const end = live.subscribe((value) => {
            last = value;
            if (isDone || !test(value)) return;
            isDone = true;
            done();
            queueMicrotask(() => end());
            resolve(value);
        });
    });
}

/** Waits until a condition holds.
 * @param {() => boolean | Promise<boolean>} test
 * @param {number} [seconds] of the fake clock */
export async function eventually(test, seconds) {
    let failure = '';
    const done = limit(test, seconds, (error) => failure = error);
    while (!await test()) {
        if (failure) throw new Error(failure);
        await turn();
    }
    done();
}

/** Calls `fail` when a wait takes more than `seconds` of the fake clock. Without `seconds` the limit is a real minute, which
 * only ends a test that hangs.
 * @param {Function} test @param {number | undefined} seconds @param {(error: string) => void} fail
 * @returns {() => void} ends the limit */
function limit(test, seconds, fail) {
    const expire = () => fail(`not within ${seconds ?? 60} s: ${test}`);
    if (seconds === undefined) {
        const timer = machine.setTimeout(expire, 60_000);
        return () => machine.clearTimeout(timer);
    }
    const timer = setTimeout(expire, seconds * 1000);
    return () => clearTimeout(timer);
}

/** @param {(topics: string[]) => void} publish */
function memory(publish) {
    return Promise.resolve(new MemoryStore(publish));
}

/** A Chat whose store tests may look into. */
class OpenChat extends Chat {
    /** @param {import('../../../Sources/WebClient/page/core/store/schema.js').Table} table @returns {Promise<any[]>} */
    rows(table) {
        return this.store.read([table], (tx) => tx.all(table));
    }

    /** Removes a thread's messages from the store, as a full disk would.
     * @param {string} threadID */
    forget(threadID) {
        return this.store.write(['threads', 'messages'], async (tx) => {
            tx.deleteBetween('messages', [threadID, 0], [threadID, Infinity]);
            tx.put('threads', { ...await tx.get('threads', threadID), ranges: [] });
        });
    }
}

/** A device that is signed in; everything is in memory.
 * @param {import('./fake-server.js').FakeServer} server
 * @param {import('./fake-server.js').User} user */
export async function device(server, user) {
    const chat = new OpenChat({ fetch: server.fetch, openStore: memory });
    await chat.start();
    for (let tries = 1;; tries += 1) {
        try {
            await chat.signIn({ username: user.username, password: 'a river of tea' });
            return chat;
        } catch (error) {
            if (tries === 50) throw error;
        }
    }
}

/** The texts of a timeline's rows.
 * @param {import('../../../Sources/WebClient/page/core/types.js').TimelineView} view */
export function texts(view) {
    return view.rows.map(({ message }) => message.payload?.text ?? '');
}
