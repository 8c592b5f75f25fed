// What the service offers: the answer of GET /v1/service. The last one is stored: chat.js reads it at the start.

import { BackOff, sleep } from './http/back-off.js';
import { problemOf } from './http/problem.js';

/** Publishes the answer and stores it. Retries until the service answers.
 * @param {import('./http/http.js').HTTP} http
 * @param {import('./store/schema.js').Store} store
 * @param {import('./live.js').LiveValue<import('./types.js').Service>} service
 * @param {AbortSignal} signal */
export async function loadService(http, store, service, signal) {
    const backOff = new BackOff({ isSeen: () => globalThis.document?.visibilityState !== 'hidden' });
    while (!signal.aborted) {
        try {
            const options = { isAnonymous: true, tries: 1, signal };
            const value = await http.call('GET', '/v1/service', options);
            service.set(value);
            await store.write(['meta'], (tx) => tx.put('meta', { key: 'service', value }));
            return;
        } catch (error) {
            const problem = problemOf(error);
            if (!problem.isTemporary) return;
            await sleep(backOff.next(problem), signal);
        }
    }
}
