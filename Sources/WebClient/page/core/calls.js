// Calls that need the server: they bypass the store. Those that only dialogs make are in requests.js.

import { HTTP } from './http/http.js';
import { problemOf } from './http/problem.js';
import { LiveValue } from './live.js';
import { foldMessage } from './state/fold.js';
import { commit, commitThread } from './sync/commit.js';
import { dropReadMark } from './sync/read-marks.js';
import { LateStore } from './store/open.js';

/** @typedef {import('./types.js').Person} Person */
/** @typedef {import('./types.js').Thread} Thread */
/** @typedef {import('./types.js').Message} Message */

/** The calls of `Chat` that need the server. Their promises reject with a Problem. Their changes arrive as events. */
export class Calls {
    http;
    /** @protected */
    store = new LateStore();

    /** @type {Promise<void> | null} */
    #renewal = null;

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

    // People

    /** @type {LiveValue<Person[]>} */
    blocks = new LiveValue({ onFirst: () => void this.loadBlocks() });

    /** @protected */
    async loadBlocks() {
        try {
            const blocks = await this.http.list('/v1/users/me/blocks', 'blocks');
            this.blocks.set(blocks.map(({ user }) => user));
        } catch {
            // Offline: the list stays unknown.
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

    /** Stores a message that the server has just returned, unless its event came first.
     * @param {Message} message */
    async storeMessage(message) {
        await commit(this.store, (reader) => foldMessage(message, reader));
    }

    /** @param {Message} message @param {string} emoji @param {boolean} isPut */
    async react(message, emoji, isPut) {
        const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}`;
        await this.http.call(isPut ? 'PUT' : 'DELETE', path);
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

    /** Stores a thread that the server has just returned, unless its event came first. Returns the thread.
     * @param {Thread} thread */
    async storeThread(thread) {
        const known = await this.store.read(['threads'], (tx) => tx.get('threads', thread.id));
        if (!known) await commitThread(this.store, thread);
        await this.readThread(thread.id);
        return thread;
    }
}

/** @param {Message} message */
export function pathOf({ thread_id, id }) {
    return `/v1/threads/${thread_id}/messages/${id}`;
}
