// Typing and presence: shown, never stored.

import { LiveValue } from '../live.js';

/** @typedef {import('../types.js').Person} Person */
/** @typedef {import('../types.js').Member} Member */
/** @typedef {{presence: string | null, last_seen_at: string | null}} Presence */
/** @typedef {{http: import('../http/http.js').HTTP, store: import('../store/schema.js').Store,
 * threads: import('../threads.js').Threads, userID: () => string | undefined}} Means */

const typingMilliseconds = 6000;
const reportMilliseconds = 4000;
const overtakenMilliseconds = 1000;

/** The people who are typing, and the presence of people. Each tab has one. The leader forwards the events. */
export class Passing {
    /** @type {Means} */
    #means;
    /** The ends of notices, by thread and person. @type {Map<string, ReturnType<typeof setTimeout>>} */
    #timers = new Map();
    /** @type {Map<string, LiveValue<Person[]>>} */
    #typingValues = new Map();
    /** @type {Map<string, LiveValue<Presence>>} */
    #presenceValues = new Map();
    /** @type {Map<string, number>} */
    #reportedAt = new Map();
    /** When somebody wrote last, by thread and person. @type {Map<string, number>} */
    #wroteAt = new Map();

    /** @param {Means} means */
    constructor(means) {
        this.#means = means;
    }

    /** @param {string} threadID @returns {LiveValue<Person[]>} */
    typing(threadID) {
        const value = this.#typingValues.get(threadID) ?? new LiveValue({ value: /** @type {Person[]} */ ([]) });
        this.#typingValues.set(threadID, value);
        return value;
    }

    /** @param {string} userID @returns {LiveValue<Presence>} */
    presence(userID) {
        const known = this.#presenceValues.get(userID);
        if (known) return known;
        /** @type {LiveValue<Presence>} */
        const value = new LiveValue({ onFirst: () => void this.#requestPresence(userID, value) });
        this.#presenceValues.set(userID, value);
        return value;
    }

    /** @param {import('../state/records.js').Event[]} events `message.created` has the sender's `user_id` only */
    receive(events) {
        for (const { type, thread_id: threadID, data } of events) {
            if (type === 'typing' && threadID) void this.#begin(threadID, data.user_id);
            if (type === 'message.created' && threadID) {
                this.#wroteAt.set(threadID + data.user_id, Date.now());
                this.#end(threadID, data.user_id);
            }
            if (type === 'presence.updated') this.presence(data.user_id).set(presenceOf(data));
        }
    }

    /** Requests the presence of everybody shown. The server's log does not keep presence, so a pause loses changes. */
    refresh() {
        for (const [userID, value] of this.#presenceValues) {
            if (value.hasSubscribers) void this.#requestPresence(userID, value);
            else this.#presenceValues.delete(userID);
        }
    }

    /** Without a connection nobody's presence is known. */
    forgetPresence() {
        for (const value of this.#presenceValues.values()) value.set({ presence: null, last_seen_at: null });
    }

    clear() {
        for (const timer of this.#timers.values()) clearTimeout(timer);
        this.#timers.clear();
        this.#wroteAt.clear();
        for (const value of this.#typingValues.values()) value.set([]);
        this.#presenceValues.clear();
    }

    /** Publishes that the caller is typing, every 4 s at most.
     * @param {string} threadID */
    report(threadID) {
        const now = Date.now();
        if (now - (this.#reportedAt.get(threadID) ?? 0) < reportMilliseconds) return;
        this.#reportedAt.set(threadID, now);
        // A notice that is lost does no harm.
        this.#means.http.call('PUT', `/v1/threads/${threadID}/typing`, { json: {}, tries: 1 }).catch(() => {});
    }

    /** The caller has sent what was typed: the next key is reported at once.
     * @param {string} threadID */
    stop(threadID) {
        this.#reportedAt.delete(threadID);
    }

    /** @param {string} threadID @param {string} userID */
    async #begin(threadID, userID) {
        if (userID === this.#means.userID()) return;
        const key = threadID + userID;
        // A notice that a message has overtaken is over.
        if (Date.now() - (this.#wroteAt.get(key) ?? 0) < overtakenMilliseconds) return;
        clearTimeout(this.#timers.get(key));
        this.#timers.set(key, setTimeout(() => this.#end(threadID, userID), typingMilliseconds));
        const person = await this.#personOf(threadID, userID);
        if (person && this.#timers.has(key)) this.#show(threadID, userID, [person]);
    }

    /** @param {string} threadID @param {string} userID */
    #end(threadID, userID) {
        clearTimeout(this.#timers.get(threadID + userID));
        if (this.#timers.delete(threadID + userID)) this.#show(threadID, userID, []);
    }

    /** @param {string} threadID @param {string} userID @param {Person[]} person the one with this id, or none */
    #show(threadID, userID, person) {
        const value = this.typing(threadID);
        value.set([...(value.value ?? []).filter(({ id }) => id !== userID), ...person]);
    }

    /** Returns a person by what the store has of the thread, else by the server.
     * @param {string} threadID @param {string} userID @returns {Promise<Person | null>} */
    async #personOf(threadID, userID) {
        const peer = this.#means.threads.get(threadID)?.peer;
        if (peer?.id === userID) return peer;
        const known = await this.#means.store.read(['members', 'messages'], personIn(threadID, userID));
        return known ?? await this.#means.http.get('/v1/users/' + userID).catch(() => null);
    }

    /** @param {string} userID @param {LiveValue<Presence>} value */
    async #requestPresence(userID, value) {
        const before = value.value;
        try {
            const now = presenceOf(await this.#means.http.get('/v1/users/' + userID));
            // An event that has come since the request is newer.
            if (value.value === before) value.set(now);
        } catch {
            // Offline: what was known last stays.
        }
    }
}

/** @param {Presence} person @returns {Presence} */
function presenceOf({ presence, last_seen_at }) {
    return { presence, last_seen_at };
}

/** Returns the work that finds a person among a thread's members and latest senders.
 * @param {string} threadID @param {string} userID
 * @returns {(tx: import('../store/schema.js').Transaction) => Promise<Person | undefined>} */
function personIn(threadID, userID) {
    const span = { from: [threadID, 0], to: [threadID, Infinity], limit: 100, isReversed: true };
    return async (tx) => {
        /** @type {Member[]} */
        const members = (await tx.get('members', threadID))?.members ?? [];
        const people = [
            ...members.map(({ user }) => user),
            ...(await tx.all('messages', span)).map(({ sender }) => sender),
        ];
        return people.find((person) => person?.id === userID);
    };
}
