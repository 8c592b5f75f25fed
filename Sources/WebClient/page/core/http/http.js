// Requests to the server.

import { Problem } from './problem.js';
import { sleep } from './back-off.js';

/** @typedef {{query?: Record<string, string | number | boolean | null | undefined>, json?: unknown,
 * body?: Blob | Uint8Array<ArrayBuffer> | null, headers?: Record<string, string>, seconds?: number, signal?: AbortSignal,
 * isAnonymous?: boolean, tries?: number}} RequestOptions `seconds` is the time limit, `tries` the most requests sent */

/** Methods that may be repeated when no answer came. */
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']);

/** Calls of the HTTP contract with the session's token. */
export class HTTP {
    /** @type {string | null} */
    token = null;
    /** Is called with the refused token when the session has ended.
     * @type {(token: string) => void} */
    onSignedOut = () => {};
    #origin;
    #fetch;

    /** @param {{origin?: string, fetch?: typeof fetch}} [options] `origin` is empty in a page: the page's own. */
    constructor(options = {}) {
        this.#origin = options.origin ?? '';
        const given = options.fetch;
        // `fetch` must be called as a function of the global object.
        this.#fetch = given ?? ((...all) => fetch(...all));
    }

    /** Sends a request and returns the JSON of its answer; null if it has none. Repeats what is safe to repeat after a
     * temporary failure.
     * @param {string} method
     * @param {string} path
     * @param {RequestOptions} [options]
     * @returns {Promise<any>} Rejects with a Problem. */
    async call(method, path, options = {}) {
        const tries = options.tries ?? (repeatable.has(method) ? 3 : 1);
        for (let attempt = 1;; attempt += 1) {
            try {
                const response = await this.send(method, path, options);
                return response.status === 204 ? null : await response.json();
            } catch (error) {
                if (!(error instanceof Problem) || options.signal?.aborted) throw error;
                // The unanswered try may have deleted it.
                if (method === 'DELETE' && attempt > 1 && error.status === 404) return null;
                const wait = Math.max(300 * 2 ** (attempt - 1), (error.retryAfter ?? 0) * 1000);
                if (attempt >= tries || !error.isTemporary || wait > 3000) throw error;
                await sleep(wait * (0.75 + Math.random() / 2), ...options.signal ? [options.signal] : []);
            }
        }
    }

    /** Sends a request once and returns its answer, which has a status of 2xx.
     * @param {string} method
     * @param {string} path
     * @param {RequestOptions} [options]
     * @returns {Promise<Response>} Rejects with a Problem. */
    async send(method, path, options = {}) {
        const token = options.isAnonymous ? null : this.token;
        /** @type {Record<string, string>} */
        const headers = { ...options.headers };
        if (token) headers['Authorization'] = 'Bearer ' + token;
        if (options.json !== undefined) headers['Content-Type'] = 'application/json';
        const limit = AbortSignal.timeout((options.seconds ?? 30) * 1000);
        const signal = options.signal ? AbortSignal.any([limit, options.signal]) : limit;
        /** @type {Response} */
        let response;
        try {
            response = await this.#fetch(this.#origin + path + queryOf(options.query), {
                method,
                headers,
                body: options.json !== undefined ? JSON.stringify(options.json) : options.body ?? null,
                signal,
                cache: 'no-store',
                credentials: 'same-origin',
                redirect: 'error',
            });
            if (response.ok) return await whole(response);
        } catch {
            throw Problem.noAnswer();
        }
        const problem = await Problem.of(response);
        if (problem.isSignedOut && token) this.onSignedOut(token);
        throw problem;
    }

    /** @param {string} path @param {RequestOptions['query']} [query] */
    get(path, query) {
        return this.call('GET', path, { query });
    }

    /** @param {string} path @param {unknown} [json] */
    post(path, json) {
        return this.call('POST', path, { json });
    }

    /** @param {string} path @param {unknown} [json] */
    put(path, json) {
        return this.call('PUT', path, { json });
    }

    /** @param {string} path @param {unknown} json */
    patch(path, json) {
        return this.call('PATCH', path, { json });
    }

    /** @param {string} path @param {RequestOptions['query']} [query] */
    delete(path, query) {
        return this.call('DELETE', path, { query });
    }

    /** Requests a list page by page.
     * @param {string} path
     * @returns {AsyncGenerator<any>} */
    async *pages(path) {
        let page;
        do {
            const answer = await this.get(path, { limit: 200, page });
            yield answer;
            page = answer.next;
        } while (page);
    }

    /** Returns the entries of a list, about 1,000 at most.
     * @param {string} path
     * @param {string} name of the list's array
     * @returns {Promise<any[]>} */
    async list(path, name) {
        /** @type {any[]} */
        const entries = [];
        for await (const answer of this.pages(path)) {
            entries.push(...answer[name]);
            if (entries.length >= 1000) break;
        }
        return entries;
    }
}

/** Waits for the whole body, so that a connection that breaks in the middle of an answer counts as no answer.
 * @param {Response} response */
async function whole(response) {
    if (response.status === 204 || response.status === 205) return response;
    return new Response(await response.blob(), { status: response.status, headers: response.headers });
}

/** @param {RequestOptions['query']} query */
function queryOf(query) {
    const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
    if (pairs.length === 0) return '';
    return '?' + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]));
}
