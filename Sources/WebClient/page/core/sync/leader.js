// One tab of a browser syncs: the leader.

/** @typedef {import('./tabs.js').TabMessage} TabMessage */

import { newID } from '../ids.js';
import { sleep } from '../http/back-off.js';

const lockName = 'parley-sync';
const leaseMilliseconds = 6000;

/** @typedef {{locks?: LockManager | null, store: import('../store/schema.js').Store, tabs: import('./tabs.js').Tabs}} Means */

/** Calls `lead` while this tab is the leader, again each time it becomes the leader. `lead` ends when its signal aborts.
 * The browser frees the lock of a tab that dies, and the next tab takes it at once. Without Web Locks (they need a secure
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
            else await leadByLease(store, tabs, lead, signal);
        } catch (error) {
            if (signal.aborted) return;
            console.error('syncing stopped; starting again in 1 s', error);
            await sleep(1000, signal);
        }
    }
}

/** Waits for the lease, leads while it can be renewed, and frees it.
 * @param {Means['store']} store
 * @param {Means['tabs']} tabs
 * @param {(signal: AbortSignal) => Promise<void>} lead
 * @param {AbortSignal} signal */
async function leadByLease(store, tabs, lead, signal) {
    const holder = newID();
    let wake = new AbortController();
    tabs.listen((/** @type {TabMessage} */ message) => {
        if (message.kind === 'free') wake.abort();
    });
    while (!await claim(store, holder)) {
        if (signal.aborted) return;
        await sleep(leaseMilliseconds / 3 * (0.75 + Math.random() / 2), AbortSignal.any([signal, wake.signal]));
        wake = new AbortController();
    }
    const lost = new AbortController();
    const leading = AbortSignal.any([signal, lost.signal]);
    const renewing = (async () => {
        while (!leading.aborted) {
            await sleep(leaseMilliseconds / 3, leading);
            // A throttled timer may have let the lease expire, and another tab may lead now.
            if (!leading.aborted && !await claim(store, holder)) lost.abort();
        }
    })().catch(() => lost.abort());
    try {
        await lead(leading);
    } finally {
        lost.abort();
        await renewing;
        await free(store, holder);
        tabs.send({ kind: 'free' });
    }
}

/** Takes or renews the lease, unless another tab holds it.
 * @param {Means['store']} store @param {string} holder */
function claim(store, holder) {
    return store.write(['meta'], async (tx) => {
        const lease = (await tx.get('meta', 'lease'))?.value;
        if (lease && lease.holder !== holder && lease.until > Date.now()) return false;
        tx.put('meta', { key: 'lease', value: { holder, until: Date.now() + leaseMilliseconds } });
        return true;
    });
}

/** @param {Means['store']} store @param {string} holder */
function free(store, holder) {
    return store.write(['meta'], async (tx) => {
        if ((await tx.get('meta', 'lease'))?.value.holder === holder) tx.delete('meta', 'lease');
    });
}
