// The records as they will be once the changes are stored: what the reader returns, with the changes so far above it.

/** @import { Reader, Changes, StoredThread, Message, Member, Account } from './records.js' */

export class WorkingSet {
    #reader;
    /** @type {Changes} */
    #changes = {
        cleared: new Map(),
        messages: new Map(),
        threads: new Map(),
        members: new Map(),
        account: undefined,
        unknownThreads: [],
        endedSessions: [],
    };

    /** @param {Reader} reader */
    constructor(reader) {
        this.#reader = reader;
    }

    get changes() {
        return this.#changes;
    }

    /** @param {string} threadID */
    async thread(threadID) {
        const changed = this.#changes.threads.get(threadID);
        if (changed !== undefined) return changed ?? undefined;
        return await this.#reader.thread(threadID);
    }

    async threads() {
        const stored = await this.#reader.threads();
        const threads = new Map(stored.map((thread) => [thread.id, thread]));
        for (const [id, thread] of this.#changes.threads) {
            if (thread) threads.set(id, thread);
            else threads.delete(id);
        }
        return [...threads.values()];
    }

    /**
     * @param {string} threadID
     * @param {number} seq
     */
    async message(threadID, seq) {
        const changed = this.#changes.messages.get(threadID)?.get(seq);
        if (changed !== undefined) return changed ?? undefined;
        return seq < this.#clearedBelow(threadID) ? undefined : await this.#reader.message(threadID, seq);
    }

    /** The message with the highest seq of a closed interval.
     * @param {string} threadID
     * @param {number} first
     * @param {number} last
     * @returns {Promise<Message | undefined>}
     */
    async newestMessage(threadID, first, last) {
        const changed = this.#changes.messages.get(threadID) ?? new Map();
        const seqs = [...changed].filter(([seq, message]) => message && first <= seq && seq <= last).map(([seq]) =>
            seq
        );
        const newestChanged = Math.max(0, ...seqs);
        first = Math.max(first, newestChanged, this.#clearedBelow(threadID));
        while (first <= last) {
            const stored = await this.#reader.newestMessage(threadID, first, last);
            if (!stored) break;
            if (!changed.has(stored.seq)) return stored;
            // The stored message is replaced or deleted: look below it.
            last = stored.seq - 1;
        }
        return changed.get(newestChanged);
    }

    /** @param {string} threadID */
    async messages(threadID) {
        const clearedBelow = this.#clearedBelow(threadID);
        const stored = clearedBelow === Infinity ? [] : await this.#reader.messages(threadID);
        const kept = stored.filter((message) => message.seq >= clearedBelow);
        const messages = new Map(kept.map((message) => [message.seq, message]));
        for (const [seq, message] of this.#changes.messages.get(threadID) ?? []) {
            if (message) messages.set(seq, message);
            else messages.delete(seq);
        }
        return [...messages.values()];
    }

    /** @param {string} threadID */
    async members(threadID) {
        const changed = this.#changes.members.get(threadID);
        if (changed !== undefined) return changed ?? undefined;
        return await this.#reader.members(threadID);
    }

    async account() {
        return this.#changes.account ?? await this.#reader.account();
    }

    /** @param {StoredThread} thread */
    putThread(thread) {
        this.#changes.threads.set(thread.id, thread);
    }

    /** Deletes a thread with its messages and members.
     * @param {string} threadID
     */
    deleteThread(threadID) {
        this.clearMessages(threadID, Infinity);
        this.#changes.threads.set(threadID, null);
        this.#changes.members.set(threadID, null);
    }

    /** @param {Message} message */
    putMessage(message) {
        this.#messagesOf(message.thread_id).set(message.seq, message);
    }

    /**
     * @param {string} threadID
     * @param {number} seq
     */
    deleteMessage(threadID, seq) {
        this.#messagesOf(threadID).set(seq, null);
    }

    /** Deletes the messages below a seq.
     * @param {string} threadID
     * @param {number} seq
     */
    clearMessages(threadID, seq) {
        this.#changes.cleared.set(threadID, Math.max(seq, this.#clearedBelow(threadID)));
        const changed = this.#changes.messages.get(threadID);
        for (const key of changed?.keys() ?? []) if (key < seq) changed?.delete(key);
    }

    /**
     * @param {string} threadID
     * @param {Member[]} members
     */
    putMembers(threadID, members) {
        this.#changes.members.set(threadID, members);
    }

    /** @param {Account} account */
    putAccount(account) {
        this.#changes.account = account;
    }

    /** @param {string} threadID */
    noteUnknownThread(threadID) {
        const { unknownThreads } = this.#changes;
        if (!unknownThreads.includes(threadID)) unknownThreads.push(threadID);
    }

    /** @param {string} sessionID */
    noteEndedSession(sessionID) {
        this.#changes.endedSessions.push(sessionID);
    }

    /** @param {string} threadID */
    #clearedBelow(threadID) {
        return this.#changes.cleared.get(threadID) ?? 0;
    }

    /** @param {string} threadID */
    #messagesOf(threadID) {
        const messages = this.#changes.messages.get(threadID) ?? new Map();
        this.#changes.messages.set(threadID, messages);
        return messages;
    }
}
