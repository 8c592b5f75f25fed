// Sessions that the user has ended here while the server could not be reached.

import { BackOff, sleep } from './http/back-off.js';
import { problemOf } from './http/problem.js';

/** @typedef {import('./store/schema.js').Store} Store */

/** Stores the token of a session that the server must still end. Nothing else of the session is left in the browser.
 * @param {Store} store @param {string} token */
export function keepEnded(store, token) {
    return store.write(['meta'], async (tx) => {
        const tokens = (await tx.get('meta', 'ended'))?.value ?? [];
        tx.put('meta', { key: 'ended', value: [...tokens, token] });
    });
}

/** Ends these sessions at the server, as soon as it can be reached.
 * @param {Store} store @param {import('./http/http.js').HTTP} http @param {AbortSignal} signal */
export async function endSessions(store, http, signal) {
    const backOff = new BackOff({ isSeen: () => globalThis.document?.visibilityState !== 'hidden' });
    while (!signal.aborted) {
        /** @type {string[]} */
        const tokens = await store.read(['meta'], async (tx) => (await tx.get('meta', 'ended'))?.value ?? []);
        if (tokens.length === 0) return;
        const headers = { Authorization: 'Bearer ' + tokens[0] };
        try {
            await http.call('POST', '/v1/auth/logout', { headers, isAnonymous: true, signal });
        } catch (error) {
            const problem = problemOf(error);
            if (problem.isTemporary) {
                await sleep(backOff.next(problem), signal);
                continue;
            }
            // The session has ended already.
        }
        await store.write(['meta'], async (tx) => {
            const left = ((await tx.get('meta', 'ended'))?.value ?? []).filter((/** @type {string} */ token) =>
                token !== tokens[0]
            );
            if (left.length > 0) tx.put('meta', { key: 'ended', value: left });
            else tx.delete('meta', 'ended');
        });
    }
}
