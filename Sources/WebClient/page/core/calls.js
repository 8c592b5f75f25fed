// Calls that need the server: they bypass the store. Those that only dialogs make are in requests.js.

import { sleep } from './http/back-off.js';
import { HTTP } from './http/http.js';
import { problemOf } from './http/problem.js';
import { LiveValue } from './live.js';
import { LateStore } from './store/open.js';
import { changeEntry } from './sync/outbox.js';

/** @typedef {import('./types.js').Person} Person */
/** @typedef {import('./types.js').Thread} Thread */
/** @typedef {import('./types.js').Message} Message */

/** How long work waits at the start that the first messages do not need. */
const laterMilliseconds = 300;

/** The calls of `Chat` that need the server. Their promises reject with a Problem. Their changes arrive as events. */
export class Calls {
    http;
    /** @protected */
    store = new LateStore();

    /** @type {Promise<void> | null} */
    #renewal = null;
    /** How often the list of blocked people was requested. */
    #blockLoads = 0;

    /** @param {{origin?: string, fetch?: typeof fetch}} [options] */
    constructor(options) {
        this.http = new HTTP(options);
    }

    /** Reads a thread of the store now: the interface opens it as soon as the call returns.
     * @protected @param {string} _id
     * @returns {Promise<void>} */
    readThread(_id) {
        return Promise.resolve();
    }

    // The service

    /** @type {LiveValue<import('./types.js').Service>} */
    service = new LiveValue();

    /** Starts the work that would delay the first messages: after them, or at once if no answer of the service is stored, because
     * the page then does not know what to offer.
     * @protected @param {AbortSignal} signal */
    async startLater(signal) {
        if (this.service.value) await sleep(laterMilliseconds, signal);
        void this.endSessions(signal);
        const { loadService } = await import('./service.js');
        await loadService(this.http, this.store, this.service, signal);
    }

    /** Ends sessions that the user has ended while the server could not be reached.
     * @protected @param {AbortSignal} signal */
    async endSessions(signal) {
        if (!await this.store.read(['meta'], (tx) => tx.get('meta', 'ended'))) return;
        const { endSessions } = await import('./ended-sessions.js');
        await endSessions(this.store, this.http, signal);
    }

    // People

    /** @type {LiveValue<Person[]>} */
    blocks = new LiveValue({ onFirst: () => void this.loadBlocks() });

    /** @protected */
    async loadBlocks() {
        const number = this.#blockLoads += 1;
        try {
            const blocks = await this.http.list('/v1/users/me/blocks', 'blocks');
            // A later request may have been answered sooner.
            if (number === this.#blockLoads) this.blocks.set(blocks.map(({ user }) => user));
        } catch {
            // Offline: the list is loaded again when the connection is back.
        }
    }

    /** @param {string} userID */
    async block(userID) {
        await this.http.put('/v1/users/me/blocks/' + userID);
        await this.loadBlocks();
    }

    /** @param {string} userID */
    async unblock(userID) {
        await this.http.delete('/v1/users/me/blocks/' + userID);
        await this.loadBlocks();
    }

    // Threads

    /** A read mark that is under way is waited for: arriving later, it would undo this.
     * @param {string} threadID @param {number} seq */
    async markUnread(threadID, seq) {
        const { dropReadMark } = await import('./sync/answers.js');
        await dropReadMark(this.store, threadID);
        await this.http.put(`/v1/threads/${threadID}/unread`, { from: seq });
    }

    // Messages

    /** One message: from the store, else from the server; null if it does not exist for the caller.
     * @param {string} threadID @param {string} messageID
     * @returns {Promise<Message | null>} */
    async message(threadID, messageID) {
        const span = { index: 'id', from: messageID, to: messageID };
        const [known] = await this.store.read(['messages'], (tx) => tx.all('messages', span));
        if (known) return known;
        try {
            return await this.http.get(`/v1/threads/${threadID}/messages/${messageID}`);
        } catch (error) {
            if (problemOf(error).status === 404) return null;
            throw error;
        }
    }

    /** @param {string} messageID */
    async retry(messageID) {
        await changeEntry(this.store, messageID, 'retry');
    }

    /** @param {string} messageID */
    async discard(messageID) {
        await changeEntry(this.store, messageID, 'discard');
    }

    /** @param {Message} message @param {string} text
     * @returns {Promise<boolean>} false: a moderator must approve the edit first */
    async edit(message, text) {
        const { edit } = await import('./sync/answers.js');
        return await edit(this.store, this.http, message, text);
    }

    /** @param {Message} message @param {string} emoji @param {boolean} isPut */
    async react(message, emoji, isPut) {
        const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}`;
        try {
            await this.http.call(isPut ? 'PUT' : 'DELETE', path, { tries: 1 });
        } catch (error) {
            if (problemOf(error).status !== 0) throw error;
            // Offline, it waits like a message.
            const { putReaction } = await import('./sync/reactions.js');
            await putReaction(this.store, message, emoji, isPut);
        }
    }

    /** Searches the messages that are stored on this device.
     * @param {string} query @param {string} [threadID] */
    async searchStored(query, threadID) {
        const { searchStored } = await import('./search-stored.js');
        return await searchStored(this.store, query, threadID);
    }

    /** @param {string} attachmentID @param {'original' | 'thumbnail'} variant */
    fileURL(attachmentID, variant) {
        return `/v1/attachments/${attachmentID}${variant === 'thumbnail' ? '/thumbnail' : ''}`;
    }

    /** Renews the cookie that opens files: after the sign-in, at each start, and when a file answers 401. Calls at the
     * same time share one request.
     * @returns {Promise<void>} */
    renewFileAccess() {
        this.#renewal ??= this.http.call('POST', '/v1/sessions/current/media-cookie', { tries: 3 }).finally(() => {
            this.#renewal = null;
        });
        return this.#renewal;
    }

    /** Makes a call that returns a thread, and stores the thread, unless its event came first.
     * @param {() => Promise<Thread>} request
     * @returns {Promise<Thread>} */
    async storeThread(request) {
        const { commitNewThread } = await import('./sync/answers.js');
        const thread = await commitNewThread(this.store, this.http, request);
        await this.readThread(thread.id);
        return thread;
    }
}

/** @param {{thread_id: string, id: string}} message */
export function pathOf({ thread_id, id }) {
    return `/v1/threads/${thread_id}/messages/${id}`;
}
