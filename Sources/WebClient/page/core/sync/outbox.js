// The outbox: messages from the store to the server, in the order of each thread.

import { newID } from '../id.js';
import { BackOff, forever, sleep } from '../http/back-off.js';
import { Problem, problemOf } from '../http/problem.js';
import { commitSent } from './commit.js';

/** A message that the server has not answered yet.
 * @typedef {object} OutboxEntry
 * @property {number} order its place; the store counts
 * @property {string} id
 * @property {string} thread_id
 * @property {import('../types.js').Message} message as it is shown meanwhile: `seq` 0
 * @property {object} body of the request
 * @property {{id: string}[]} files to upload first
 * @property {'sending' | 'pending' | 'failed'} state pending: it waits for a moderator
 * @property {import('../types.js').Refusal} [problem] why it failed
 */

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../http/http.js').HTTP} HTTP */

/** Sends the outbox. Runs in one tab, the leader. The server stores a message once for its id, so a request whose answer
 * was lost is repeated. */
export class OutboxSender {
    #store;
    #http;
    #wake = new AbortController();
    /** What is being sent, by message. @type {Map<string, AbortController>} */
    #requests = new Map();
    /** By thread. @type {Map<string, Promise<void>>} */
    #sending = new Map();

    /** @param {{store: Store, http: HTTP}} means */
    constructor({ store, http }) {
        this.#store = store;
        this.#http = http;
    }

    /** The outbox has changed, or the server is there again. */
    nudge() {
        this.#wake.abort();
    }

    /** @param {AbortSignal} signal */
    async run(signal) {
        while (!signal.aborted) {
            const wake = this.#wake = new AbortController();
            const sending = (await entriesOf(this.#store)).filter(({ state }) => state === 'sending');
            // Ends requests of messages that the user has discarded.
            for (const [id, request] of this.#requests) if (!sending.some((entry) => entry.id === id)) request.abort();
            for (const { thread_id: id } of sending) {
                if (this.#sending.has(id)) continue;
                const sent = this.#sendThread(id, signal).finally(() => {
                    this.#sending.delete(id);
                    this.nudge();
                });
                this.#sending.set(id, sent);
            }
            await sleep(forever, signal, wake.signal);
        }
        await Promise.allSettled(this.#sending.values());
    }

    /** Sends what waits in a thread, one message after the other.
     * @param {string} threadID
     * @param {AbortSignal} signal */
    async #sendThread(threadID, signal) {
        const backOff = new BackOff();
        while (!signal.aborted) {
            const entries = await entriesOf(this.#store);
            const next = entries.find(({ thread_id, state }) => thread_id === threadID && state === 'sending');
            if (!next) return;
            const request = new AbortController();
            this.#requests.set(next.id, request);
            try {
                await this.#send(next, AbortSignal.any([signal, request.signal]), backOff);
                backOff.reset();
            } catch (error) {
                if (request.signal.aborted || signal.aborted) continue;
                const problem = error instanceof Problem ? error : null;
                if (!problem) console.error('sending a message failed; retrying', error);
                if (problem?.isSignedOut) return;
                if (problem && !problem.isTemporary) {
                    await this.#fail(next, problem);
                    continue;
                }
                const wait = backOff.next(problemOf(error));
                // A connection that comes back ends the wait, but not the server's Retry-After.
                const hasRetryAfter = (problem?.retryAfter ?? 0) > 0;
                await sleep(wait, signal, ...hasRetryAfter ? [] : [this.#wake.signal]);
            } finally {
                this.#requests.delete(next.id);
            }
        }
    }

    /** @param {OutboxEntry} entry @param {AbortSignal} signal @param {BackOff} backOff @returns {Promise<void>} */
    async #send(entry, signal, backOff) {
        const means = { store: this.#store, http: this.#http, signal, onProgress: () => backOff.reset() };
        for (const { id } of entry.files) await (await import('./upload.js')).upload(means, id);
        const path = `/v1/threads/${entry.thread_id}/messages`;
        try {
            const message = await this.#http.call('POST', path, { json: entry.body, signal });
            await (message.state === 'pending' ? this.#hold(entry) : commitSent(this.#store, message));
        } catch (error) {
            const problem = problemOf(error);
            // An uploaded file that no message used for a day is deleted: it is uploaded again, once.
            const isLost = problem.status === 422 && problem.errors.some(({ field }) => field.includes('attachments'));
            if (!isLost) throw error;
            const { forgetUpload } = await import('./upload.js');
            if (!await forgetUpload(this.#store, entry.files.map(({ id }) => id))) throw error;
            await this.#send(entry, signal, backOff);
        }
    }

    /** @param {OutboxEntry} entry @param {Problem} problem */
    #fail(entry, problem) {
        const { code, detail, errors } = problem;
        return this.#mark(entry, { state: 'failed', problem: { code, detail, errors } });
    }

    /** The message stays until its event arrives, or the user discards it. @param {OutboxEntry} entry */
    #hold(entry) {
        return this.#mark(entry, { state: 'pending' });
    }

    /** @param {OutboxEntry} entry @param {Partial<OutboxEntry>} change */
    #mark(entry, change) {
        return this.#store.write(['outbox'], async (tx) => {
            if (!await tx.get('outbox', entry.order)) return;
            tx.put('outbox', { ...entry, ...change });
            tx.publish('outbox/' + entry.thread_id);
        });
    }
}

/** All messages that are not stored by the server, in the order in which they were written.
 * @param {Store} store
 * @returns {Promise<OutboxEntry[]>} */
function entriesOf(store) {
    return store.read(['outbox'], (tx) => tx.all('outbox'));
}

/** Puts a message into the outbox, with its files; the draft that has become this message is removed.
 * @param {Store} store
 * @param {string} threadID
 * @param {import('../types.js').Person} sender
 * @param {import('../types.js').Outgoing} outgoing
 * @returns {Promise<string>} its id */
export async function putMessage(store, threadID, sender, outgoing) {
    const { text, files = [], attachments = [], replyTo, mentions = [], location } = outgoing;
    const id = newID();
    const parts = files.map((file) => ({ id: newID(), name: file.name, type: file.type, size: file.size, file }));
    const hasFiles = parts.length + attachments.length > 0;
    const request = {
        id,
        type: location ? 'location' : 'message',
        payload: {
            ...(location ?? (text ? { text } : {})),
            ...(hasFiles ? { attachments: [...attachments, ...parts].map(({ id }) => ({ id })) } : {}),
        },
        ...(replyTo ? { reply_to: replyTo.id } : {}),
        ...(mentions.length > 0 ? { mentions } : {}),
    };
    const shown = [
        ...attachments,
        ...parts.map(({ id, name, type, size }) => ({ id, name, content_type: type, size })),
    ];
    /** @type {import('../types.js').Message} */
    const message = {
        ...request,
        payload: { ...request.payload, ...(hasFiles ? { attachments: shown } : {}) },
        thread_id: threadID,
        seq: 0,
        timestamp: new Date().toISOString(),
        sender,
        reply_to: replyTo?.id ?? null,
        mentions,
        reactions: {},
        edited_at: null,
        deleted_at: null,
        expires_at: null,
    };
    await store.write(['outbox', 'files', 'drafts'], async (tx) => {
        const draft = await tx.get('drafts', threadID);
        tx.put('outbox', {
            id,
            thread_id: threadID,
            message,
            body: request,
            files: parts.map(({ id }) => ({ id })),
            state: 'sending',
        });
        for (const part of parts) tx.put('files', { ...part, sent: 0, message_id: id, isUploaded: false });
        tx.publish('outbox/' + threadID);
        if (draft?.text.trim() !== (text ?? '').trim()) return;
        tx.delete('drafts', threadID);
        for (const id of draft.fileIDs ?? []) tx.delete('files', id);
        tx.publish('draft/' + threadID);
    });
    return id;
}

/** Sends a failed message again, or discards a message.
 * @param {Store} store
 * @param {string} messageID
 * @param {'retry' | 'discard'} action
 * @returns {Promise<boolean>} false: the outbox has no such message */
export function changeEntry(store, messageID, action) {
    return store.write(['outbox', 'files'], async (tx) => {
        const entry = (await tx.all('outbox')).find(({ id }) => id === messageID);
        if (!entry) return false;
        if (action === 'retry') {
            tx.put('outbox', { ...entry, state: 'sending', problem: undefined });
        } else {
            tx.delete('outbox', entry.order);
            for (const { id } of entry.files) tx.delete('files', id);
        }
        tx.publish('outbox/' + entry.thread_id);
        return true;
    });
}
