// Typing and presence: shown, never stored.

import { LiveValue } from '../live.js';

/** @typedef {import('../types.js').Person} Person */
/** @typedef {{presence: string | null, last_seen_at: string | null}} Presence */

const typingMilliseconds = 6000;
const reportMilliseconds = 4000;

/** Who is typing in each thread, and who is online. Every tab has one; the leader's tab passes the events on. */
export class Passing {
    #http;
    #personOf;
    #userID;
    /** By thread: the end of each person's notice. @type {Map<string, Map<string, ReturnType<typeof setTimeout>>>} */
    #typing = new Map();
    /** @type {Map<string, LiveValue<Person[]>>} */
    #typingValues = new Map();
    /** @type {Map<string, LiveValue<Presence>>} */
    #presenceValues = new Map();
    /** @type {Map<string, number>} */
    #reportedAt = new Map();

    /** @param {{http: import('../http/http.js').HTTP, userID: () => string | undefined,
     * personOf: (threadID: string, userID: string) => Promise<Person | null>}} options */
    constructor({ http, userID, personOf }) {
        this.#http = http;
        this.#userID = userID;
        this.#personOf = personOf;
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
        const value = new LiveValue({ onFirst: () => void this.#askPresence(userID, value) });
        this.#presenceValues.set(userID, value);
        return value;
    }

    /** @param {import('../state/records.js').Event[]} events `message.created` has the sender's `user_id` only */
    take(events) {
        for (const { type, thread_id: threadID, data } of events) {
            if (type === 'typing' && threadID) this.#begin(threadID, data.user_id);
            if (type === 'message.created' && threadID) this.#end(threadID, data.user_id);
            if (type === 'presence.updated') this.#setPresence(data.user_id, data);
        }
    }

    /** Presence is not kept by the server's log: after a pause all that is shown is asked for again. */
    refresh() {
        for (const [userID, value] of this.#presenceValues) {
            if (value.hasSubscribers) void this.#askPresence(userID, value);
            else this.#presenceValues.delete(userID);
        }
    }

    clear() {
        for (const timers of this.#typing.values()) for (const timer of timers.values()) clearTimeout(timer);
        this.#typing.clear();
        for (const value of this.#typingValues.values()) value.set([]);
        this.#presenceValues.clear();
    }

    /** Tells the server that the caller is typing, every 4 s at most.
     * @param {string} threadID */
    report(threadID) {
        const now = Date.now();
        if (now - (this.#reportedAt.get(threadID) ?? 0) < reportMilliseconds) return;
        this.#reportedAt.set(threadID, now);
        // A notice that is lost does no harm.
        this.#http.call('PUT', `/v1/threads/${threadID}/typing`, { json: {}, tries: 1 }).catch(() => {});
    }

    /** The caller has sent what was typed: the next key is reported at once.
     * @param {string} threadID */
    stop(threadID) {
        this.#reportedAt.delete(threadID);
    }

    /** @param {string} threadID @param {string} userID */
    #begin(threadID, userID) {
        if (userID === this.#userID()) return;
        const timers = this.#typing.get(threadID) ?? new Map();
        this.#typing.set(threadID, timers);
        clearTimeout(timers.get(userID));
        timers.set(userID, setTimeout(() => this.#end(threadID, userID), typingMilliseconds));
        void this.#show(threadID);
    }

    /** @param {string} threadID @param {string} userID */
    #end(threadID, userID) {
        const timers = this.#typing.get(threadID);
        if (!timers?.has(userID)) return;
        clearTimeout(timers.get(userID));
        timers.delete(userID);
        void this.#show(threadID);
    }

    /** @param {string} threadID */
    async #show(threadID) {
        const ids = () => [...this.#typing.get(threadID)?.keys() ?? []];
        const people = await Promise.all(ids().map((id) => this.#personOf(threadID, id)));
        const current = ids();
        this.typing(threadID).set(
            people.filter((person) => person !== null).filter((person) => current.includes(person.id)),
        );
    }

    /** @param {string} userID @param {Presence} presence */
    #setPresence(userID, { presence, last_seen_at }) {
        this.presence(userID).set({ presence, last_seen_at });
    }

    /** @param {string} userID @param {LiveValue<Presence>} value */
    async #askPresence(userID, value) {
        try {
            const { presence, last_seen_at } = await this.#http.get('/v1/users/' + userID);
            value.set({ presence: presence ?? null, last_seen_at: last_seen_at ?? null });
        } catch {
            if (value.value === undefined) value.set({ presence: null, last_seen_at: null });
        }
    }
}
