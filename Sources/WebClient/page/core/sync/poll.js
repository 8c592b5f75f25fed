// The poll loop: events and cursor from the server into the store.

import { BackOff, forever, sleep } from '../http/back-off.js';
import { Problem, problemOf } from '../http/problem.js';
import { lacksLastMessage } from '../state/thread.js';
import { commitEvents, commitThread, fetchPage, unknownOf } from './commit.js';

/** @typedef {import('../types.js').Connection} Connection */
/** @typedef {import('../state/records.js').Event} Event */

const waitSeconds = 25;

/** Types of events that are not stored. */
const passing = new Set(['typing', 'presence.updated']);

export class Poll {
    #store;
    #http;
    #onConnection;
    #onPassing;
    #onFailure;
    #onMessages;
    #backOff = new BackOff({ isSeen: () => this.#isSeen });
    /** Ends the current request or wait. */
    #turn = new AbortController();
    #isConnected = false;
    #isPaused = false;
    /** Whether everything is loaded that no event carries. */
    #isComplete = false;
    /** Whether somebody looks at a tab. */
    #isSeen = true;

    /** @param {{store: import('../store/schema.js').Store, http: import('../http/http.js').HTTP,
     * onConnection: (connection: Connection) => void, onPassing: (events: Event[]) => void,
     * onFailure?: (error: unknown) => void, onMessages?: (messages: import('../types.js').Message[]) => void}} options
     * `onPassing` receives typing and presence, `onFailure` an error of the store, once until an answer is stored again,
     * `onMessages` new messages once they are stored */
    constructor({ store, http, onConnection, onPassing, onFailure = () => {}, onMessages = () => {} }) {
        this.#store = store;
        this.#http = http;
        this.#onConnection = onConnection;
        this.#onPassing = onPassing;
        this.#onFailure = onFailure;
        this.#onMessages = onMessages;
    }

    /** Syncs until the signal aborts or the session ends.
     * @param {string} userID
     * @param {AbortSignal} signal */
    async run(userID, signal) {
        let isPrepared = false;
        let isNudged = false;
        let hasFailed = false;
        this.#connect(false, 'connecting');
        while (!signal.aborted) {
            const turn = this.#turn = new AbortController();
            const ended = AbortSignal.any([signal, turn.signal]);
            try {
                if (this.#isPaused && isPrepared && !isNudged) {
                    await sleep(forever, ended);
                    isNudged = true;
                    continue;
                }
                isNudged = false;
                const cursor = await this.#store.read(['meta'], async (tx) => (await tx.get('meta', 'cursor'))?.value);
                if (cursor === undefined) await this.#load(null, signal);
                else await this.#ask(cursor, userID, signal, ended);
                this.#connect(true, 'connected');
                if (!this.#isComplete) await this.#prepare(signal);
                isPrepared = true;
                hasFailed = false;
            } catch (error) {
                if (signal.aborted) return;
                if (error instanceof Problem) {
                    if (error.isSignedOut) return;
                    await this.#waitAfter(error, turn, signal);
                    continue;
                }
                console.error('storing events failed; retrying', error);
                if (!hasFailed) this.#onFailure(error);
                hasFailed = true;
                await sleep(this.#backOff.next(), signal, turn.signal);
            }
        }
    }

    /** Polls at once: the network may have changed, or a page is visible again. */
    nudge() {
        this.#backOff.reset();
        this.#isConnected = false;
        this.#turn.abort();
    }

    /** Nobody looks: waits after failures are longer. */
    hide() {
        this.#isSeen = false;
    }

    /** Nobody looks: polls only when nudged. The server sends alerts to devices that do not poll. */
    pause() {
        this.hide();
        this.#isPaused = true;
        this.#turn.abort();
    }

    /** Somebody looks: ends a pause, and the long wait after a failure. */
    resume() {
        const isAway = this.#isPaused || !this.#isSeen && !this.#isConnected;
        this.#isSeen = true;
        this.#isPaused = false;
        if (isAway) this.nudge();
    }

    /** @param {boolean} isConnected @param {Connection} connection */
    #connect(isConnected, connection) {
        if (isConnected) this.#backOff.reset();
        this.#isConnected = isConnected;
        this.#onConnection(connection);
    }

    /** @param {import('../http/problem.js').Problem} problem
     * @param {AbortController} turn
     * @param {AbortSignal} signal */
    async #waitAfter(problem, turn, signal) {
        // The hint that ended the request is no failure.
        if (turn.signal.aborted) return;
        // A node that restarts breaks its connections: the next try often succeeds.
        const isSilent = problem.status === 0 && !this.#isConnected;
        this.#connect(false, isSilent ? 'offline' : 'connecting');
        await sleep(this.#backOff.next(problem), signal, turn.signal);
    }

    /** @param {string} cursor
     * @param {string} userID
     * @param {AbortSignal} signal
     * @param {AbortSignal} ended */
    async #ask(cursor, userID, signal, ended) {
        // The first request after a failure does not wait: its answer shows that the server is there.
        const wait = this.#isConnected ? waitSeconds : 0;
        let answer;
        try {
            const query = { cursor, wait, limit: 200 };
            answer = await this.#http.call('GET', '/v1/sync', { query, seconds: wait + 15, signal: ended, tries: 1 });
        } catch (error) {
            if (problemOf(error).status !== 410) throw error;
            return await this.#load(cursor, signal);
        }
        const stored = answer.events.filter((/** @type {Event} */ { type }) => !passing.has(type));
        if (stored.length > 0 || answer.cursor !== cursor) {
            const result = await commitEvents(this.#store, { ...answer, events: stored }, cursor, userID);
            if (result) await this.#complete(result, signal);
            const messages = stored.filter((/** @type {Event} */ { type }) => type === 'message.created');
            if (result && messages.length > 0) this.#onMessages(messages.map((/** @type {Event} */ { data }) => data));
        }
        const shown = answer.events.map((/** @type {Event} */ event) => passingOf(event, userID)).filter(Boolean);
        if (shown.length > 0) this.#onPassing(shown);
    }

    /** @param {string | null} expired the cursor that the server refused; null at the first start
     * @param {AbortSignal} signal */
    async #load(expired, signal) {
        const { reload } = await import('./reload.js');
        await reload(this.#http, this.#store, expired, signal);
    }

    /** After the first answer: what an earlier run could not finish.
     * @param {AbortSignal} signal */
    async #prepare(signal) {
        const ids = await this.#store.read(['meta', 'threads'], async (tx) => ({
            unknown: await unknownOf(tx),
            lacking: (await tx.all('threads')).filter(lacksLastMessage).map(({ id }) => id),
        }));
        await this.#complete(ids, signal);
    }

    /** Fetches threads and last messages that no event carries. What fails is fetched after the next answer: no later event
     * asks for it again.
     * @param {{unknown: string[], lacking: string[]}} ids
     * @param {AbortSignal} signal */
    async #complete({ unknown, lacking }, signal) {
        this.#isComplete = false;
        for (const id of unknown) {
            const thread = await final(() => this.#http.get('/v1/threads/' + id));
            await commitThread(this.#store, id, thread);
        }
        for (const id of lacking) {
            if (signal.aborted) return;
            await final(() => fetchPage(this.#store, this.#http, id, { limit: 1 }));
        }
        this.#isComplete = true;
    }
}

/** Returns the part of an event that goes to all tabs directly: typing, presence, the end of typing by a message, and the
 * user's own read mark, which clears alerts.
 * @param {Event} event @param {string} userID
 * @returns {Event | null} */
function passingOf(event, userID) {
    const { type, data } = event;
    if (passing.has(type) || type === 'receipt.updated' && data.user_id === userID) return event;
    return type === 'message.created' && data.sender ? { ...event, data: { user_id: data.sender.id } } : null;
}

/** Ignores a final refusal: the thread may be gone, and its event is on the way.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>} undefined: it was refused */
async function final(work) {
    try {
        return await work();
    } catch (error) {
        if (!(error instanceof Problem) || error.isTemporary) throw error;
    }
}
