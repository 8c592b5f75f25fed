// Calls that need the server: they bypass the store.

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
    /** @protected */
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

    /** @param {string} query @returns {Promise<Person[]>} */
    async findPeople(query) {
        if (!query.trim()) return [];
        return (await this.http.get('/v1/users', { query: query.trim(), limit: 30 })).users;
    }

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

    // The own account

    /** @param {{name?: string, status_text?: string | null, profile_image?: File | null, preferences?: object}} change */
    async updateProfile({ profile_image, ...change }) {
        await this.http.patch('/v1/users/me', { ...change, ...await this.#picture('profile_image', profile_image) });
    }

    /** @param {{current: string, new: string}} change */
    async changePassword(change) {
        await this.http.call('PUT', '/v1/users/me/password', { json: change, tries: 1 });
    }

    /** @returns {Promise<Blob>} */
    async exportData() {
        return await (await this.http.send('GET', '/v1/users/me/export', { seconds: 600 })).blob();
    }

    /** @returns {Promise<import('./types.js').Device[]>} */
    async devices() {
        const current = this.sessionID;
        const sessions = await this.http.list('/v1/sessions', 'sessions');
        return sessions.map((session) => ({ ...session, current: session.id === current }));
    }

    /** @protected @returns {string | undefined} */
    get sessionID() {
        return undefined;
    }

    /** @param {string} sessionID */
    async signOutDevice(sessionID) {
        await this.http.delete('/v1/sessions/' + sessionID);
    }

    async signOutOtherDevices() {
        await this.http.delete('/v1/sessions');
    }

    // Threads

    /** @param {string} query @returns {Promise<{id: string, title: string, member_count: number}[]>} */
    async findRooms(query) {
        return (await this.http.get('/v1/rooms', { query: query.trim() || undefined, limit: 30 })).rooms;
    }

    /** @param {{kind: 'direct' | 'group', title?: string, members: string[], invite?: boolean}} thread
     * @returns {Promise<Thread>} */
    async createThread(thread) {
        return await this.#known(await this.http.post('/v1/threads', thread));
    }

    /** @param {string} title @returns {Promise<Thread>} */
    async joinRoom(title) {
        return await this.#known(await this.http.call('POST', '/v1/rooms', { json: { title }, tries: 3 }));
    }

    /** @param {string} threadID */
    async acceptInvitation(threadID) {
        await this.http.put(`/v1/threads/${threadID}/members/me`, { status: 'joined' });
    }

    /** @param {string} threadID */
    async leaveThread(threadID) {
        await this.http.delete(`/v1/threads/${threadID}/members/me`);
    }

    /** @param {string} threadID
     * @param {{title?: string, image?: File | null, retention?: object}} change */
    async updateThread(threadID, { image, ...change }) {
        await this.http.patch('/v1/threads/' + threadID, { ...change, ...await this.#picture('image', image) });
    }

    /** @param {string} threadID @param {string} userID @param {{role?: string, status?: string}} change */
    async setMember(threadID, userID, change) {
        await this.http.put(`/v1/threads/${threadID}/members/${userID}`, change);
    }

    /** @param {string} threadID @param {string} userID */
    async removeMember(threadID, userID) {
        await this.http.delete(`/v1/threads/${threadID}/members/${userID}`);
    }

    /** @param {string} threadID
     * @param {{muted_until?: string | null, archived?: boolean, pinned?: boolean, hidden_before_seq?: number}} change */
    async updateSettings(threadID, change) {
        await this.http.patch(`/v1/threads/${threadID}/settings`, change);
    }

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

    /** @param {Message} message @param {string} text */
    async edit(message, text) {
        const { attachments, ...rest } = message.payload ?? {};
        const payload = {
            ...rest,
            text,
            ...(attachments ? { attachments: attachments.map(({ id }) => ({ id })) } : {}),
        };
        const edited = await this.http.patch(pathOf(message), { payload });
        await commit(this.store, (reader) => foldMessage(edited, reader));
    }

    /** @param {Message} message @param {'everyone' | 'me'} audience */
    async deleteMessage(message, audience) {
        await this.http.delete(pathOf(message), { for: audience });
    }

    /** @param {Message} message @param {string} emoji @param {boolean} isPut */
    async react(message, emoji, isPut) {
        const path = `${pathOf(message)}/reactions/${encodeURIComponent(emoji)}`;
        await this.http.call(isPut ? 'PUT' : 'DELETE', path);
    }

    /** @param {Message} message
     * @returns {Promise<{user: Person, read_at: string | null, delivered_at: string | null}[]>} */
    receipts(message) {
        return this.http.list(pathOf(message) + '/receipts', 'receipts');
    }

    /** @param {string} query @param {string} [threadID]
     * @returns {Promise<{message: Message, excerpt: string}[]>} */
    async search(query, threadID) {
        if (!query.trim()) return [];
        const { results } = await this.http.get('/v1/search', { q: query.trim(), thread: threadID, limit: 30 });
        return results.map((/** @type {{message: Message, snippet: string}} */ { message, snippet }) => ({
            message,
            excerpt: snippet,
        }));
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

    /** Stores a thread that the server has just returned, unless its event came first.
     * @param {Thread} thread */
    async #known(thread) {
        const known = await this.store.read(['threads'], (tx) => tx.get('threads', thread.id));
        if (!known) await commitThread(this.store, thread);
        await this.readThread(thread.id);
        return thread;
    }

    /** @param {string} key @param {File | null | undefined} file */
    async #picture(key, file) {
        if (!file) return file === null ? { [key]: null } : {};
        const { uploadPicture } = await import('./sync/upload.js');
        return { [key]: 'attachment:' + await uploadPicture(this.http, file) };
    }
}

/** @param {Message} message */
function pathOf({ thread_id, id }) {
    return `/v1/threads/${thread_id}/messages/${id}`;
}
