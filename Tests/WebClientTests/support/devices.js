// Devices and tabs without a browser.

import { Chat } from '../../../Sources/WebClient/page/core/chat.js';
import { MemoryStore } from '../../../Sources/WebClient/page/core/store/memory-store.js';

/** Runs `test` on a value until it holds.
 * @template T
 * @param {import('../../../Sources/WebClient/page/core/types.js').Live<T>} live
 * @param {(value: T) => boolean} test
 * @param {number} [seconds]
 * @returns {Promise<T>} */
export function until(live, test, seconds = 20) {
    return new Promise((resolve, reject) => {
        /** @type {T | undefined} */
        let last;
        const timer = setTimeout(() => {
            end();
            reject(
                new Error(`not within ${seconds} s: ${test}; the last value is ${JSON.stringify(last)?.slice(0, 500)}`),
            );
        }, seconds * 1000);
        let isDone = false;
        const end = live.subscribe((value) => {
            last = value;
            if (isDone || !test(value)) return;
            isDone = true;
            clearTimeout(timer);
            queueMicrotask(() => end());
            resolve(value);
        });
    });
}

/** Waits until a condition holds.
 * @param {() => boolean} test @param {number} [seconds] */
export async function eventually(test, seconds = 20) {
    const end = Date.now() + seconds * 1000;
    while (!test()) {
        if (Date.now() > end) throw new Error(`not within ${seconds} s: ${test}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
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
