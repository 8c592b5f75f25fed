// The tabs of a browser: their messages to each other, and the leader among them.

import { sleep } from '../http/back-off.js';

/** @typedef {{kind: 'changes', topics: string[]}
 *   | {kind: 'hello'}
 *   | {kind: 'connection', connection: import('../types.js').Connection}
 *   | {kind: 'events', events: import('../state/records.js').Event[]}
 *   | {kind: 'released'}
 *   | {kind: 'signed-out', by: 'user' | 'server'}
 *   | {kind: 'roll-call'}
 *   | {kind: 'visible'}} TabMessage
 * `changes`: rows of the store changed. `hello`: a new tab requests the state of the connection. `events`: typing, presence
 * and read marks. `released`: the lease is free. `signed-out`: everything was removed.
 * `roll-call`: each tab that the person can see answers `visible`. */

/** The channel between the tabs. Without BroadcastChannel, or with a store of the tab's own, a tab is alone. */
export class Tabs {
    /** @type {BroadcastChannel | null} */
    #channel;
    /** @type {Set<(message: TabMessage) => void>} */
    #handlers = new Set();

    /** @param {typeof BroadcastChannel | null} [Channel] */
    constructor(Channel = globalThis.BroadcastChannel ?? null) {
        this.#channel = Channel ? new Channel('parley') : null;
        this.#channel?.addEventListener('message', (event) => {
            for (const handler of this.#handlers) handler(event.data);
        });
    }

    /** Sends to the other tabs.
     * @param {TabMessage} message */
    send(message) {
        this.#channel?.postMessage(message);
    }

    /** @param {(message: TabMessage) => void} handler is called with messages of the other tabs */
    listen(handler) {
        this.#handlers.add(handler);
    }

    close() {
        this.#channel?.close();
        this.#channel = null;
    }
}

const lockName = 'parley-sync';

/** @typedef {{locks?: LockManager | null, store: import('../store/schema.js').Store, tabs: Tabs}} Means */

/** Calls `lead` while this tab is the leader, again each time it becomes the leader. `lead` ends when its signal aborts.
 * The browser frees the lock of a tab that dies, and the next tab gets the lock at once. Without Web Locks (they need a secure
 * context) the leader renews a lease in the store.
 * @param {Means} means
 * @param {(signal: AbortSignal) => Promise<void>} lead
 * @param {AbortSignal} signal ends all
 */
export async function takeTurns({ locks, store, tabs }, lead, signal) {
    // Tabs that share no rows cannot sync for each other.
    if (!store.isShared) return await lead(signal);
    while (!signal.aborted) {
        try {
            if (locks) await locks.request(lockName, { signal }, () => lead(signal));
            else await (await import('./lease.js')).leadByLease(store, tabs, lead, signal);
        } catch (error) {
            if (signal.aborted) return;
            console.error('syncing stopped; starting again in 1 s', error);
            await sleep(1000, signal);
        }
    }
}

const seenLockName = 'parley-seen';

/** Whether the person sees a tab of the page. Each tab that can be seen holds a shared lock. */
export class Seen {
    #locks;
    #release = () => {};
    /** Counts updates: a lock that is granted after the next one is not held. */
    #updates = 0;

    /** @param {LockManager | null} locks null: the page is at an address with plain HTTP, where no tab knows of the others */
    constructor(locks) {
        this.#locks = locks;
    }

    /** The tab has been opened, shown or hidden. */
    update() {
        this.end();
        if (isHidden() || !this.#locks || !globalThis.document) return;
        const update = this.#updates;
        const hold = () =>
            update !== this.#updates ? null : new Promise((resolve) => this.#release = () => resolve(null));
        void this.#locks.request(seenLockName, { mode: 'shared' }, hold).catch(() => {});
    }

    end() {
        this.#updates += 1;
        this.#release();
    }

    /** Whether some tab can be seen; true where that is not known. */
    async isAny() {
        if (!isHidden() || !this.#locks) return true;
        return await this.#locks.request(seenLockName, { ifAvailable: true }, (lock) => lock === null);
    }
}

export function isHidden() {
    return globalThis.document?.visibilityState === 'hidden';
}
