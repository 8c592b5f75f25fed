// The leader among the tabs where the browser has no Web Locks: pages at addresses with plain HTTP.

import { newID } from '../id.js';
import { sleep } from '../http/back-off.js';

/** @typedef {import('../store/schema.js').Store} Store */

const leaseMilliseconds = 6000;

/** Waits for the lease, leads while it can be renewed, and frees it.
 * @param {Store} store
 * @param {import('./tabs.js').Tabs} tabs
 * @param {(signal: AbortSignal) => Promise<void>} lead
 * @param {AbortSignal} signal */
export async function leadByLease(store, tabs, lead, signal) {
    const holder = newID();
    let wake = new AbortController();
    tabs.listen((message) => {
        if (message.kind === 'released') wake.abort();
    });
    while (!await claim(store, holder)) {
        if (signal.aborted) return;
        await sleep(leaseMilliseconds / 3 * (0.75 + Math.random() / 2), signal, wake.signal);
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
    // A tab that is closed or reloaded frees the lease at once. One that comes back claims it again within 2 s, or stops.
    const leave = () => {
        void store.write(['meta'], (tx) => tx.delete('meta', 'lease'));
        tabs.send({ kind: 'released' });
    };
    globalThis.addEventListener('pagehide', leave, { signal: leading });
    try {
        await lead(leading);
    } finally {
        lost.abort();
        await renewing;
        await release(store, holder);
        tabs.send({ kind: 'released' });
    }
}

/** Claims or renews the lease, unless another tab holds it.
 * @param {Store} store @param {string} holder */
function claim(store, holder) {
    return store.write(['meta'], async (tx) => {
        const lease = (await tx.get('meta', 'lease'))?.value;
        if (lease && lease.holder !== holder && lease.until > Date.now()) return false;
        tx.put('meta', { key: 'lease', value: { holder, until: Date.now() + leaseMilliseconds } });
        return true;
    });
}

/** @param {Store} store @param {string} holder */
function release(store, holder) {
    return store.write(['meta'], async (tx) => {
        if ((await tx.get('meta', 'lease'))?.value.holder === holder) tx.delete('meta', 'lease');
    });
}
