// What the user has begun to write: the text, the message that it answers, and the files that go with it.

/** @typedef {import('./types.js').Draft} Draft */
/** @typedef {import('./types.js').DraftFile} DraftFile */

export class Drafts {
    #store;
    #queries;
    /** @type {Promise<any[]> | null} */
    #reading = null;

    /** @param {{store: import('./store/schema.js').Store, queries: import('./live.js').Queries}} means */
    constructor({ store, queries }) {
        this.#store = store;
        this.#queries = queries;
    }

    /** @param {string} threadID @returns {import('./live.js').LiveValue<Draft>} */
    live(threadID) {
        return this.#queries.live('draft/' + threadID, async () => {
            const draft = (await this.#all()).find(({ thread_id }) => thread_id === threadID);
            return { text: draft?.text ?? '', replyTo: draft?.replyTo ?? null, fileIDs: draft?.fileIDs ?? [] };
        });
    }

    /** Reads all drafts. The rows of the inbox, which request theirs at the same moment, share one transaction. */
    #all() {
        this.#reading ??= Promise.resolve().then(() => {
            this.#reading = null;
            return this.#store.read(['drafts'], (tx) => tx.all('drafts'));
        });
        return this.#reading;
    }

    /** Stores text and reply; the files stay.
     * @param {string} threadID @param {{text: string, replyTo: import('./types.js').Message | null}} draft */
    setText(threadID, { text, replyTo }) {
        return this.#write(threadID, (draft) => ({ ...draft, text, replyTo }));
    }

    /** Stores the files; text and reply stay.
     * @param {string} threadID @param {DraftFile[]} files */
    setFiles(threadID, files) {
        return this.#write(threadID, (draft, tx) => {
            const fileIDs = files.map(({ id }) => id);
            for (const id of draft.fileIDs) if (!fileIDs.includes(id)) tx.delete('files', id);
            for (const { id, file } of files) if (!draft.fileIDs.includes(id)) tx.put('files', { id, file });
            return { ...draft, fileIDs };
        });
    }

    /** @param {string} threadID @returns {Promise<DraftFile[]>} */
    files(threadID) {
        return this.#store.read(['drafts', 'files'], async (tx) => {
            /** @type {string[]} */
            const ids = (await tx.get('drafts', threadID))?.fileIDs ?? [];
            const files = await Promise.all(ids.map((id) => tx.get('files', id)));
            return files.filter((file) => file !== undefined);
        });
    }

    /** Counts what only this browser has: messages that the server does not have, and drafts.
     * @returns {Promise<{messages: number, drafts: number}>} */
    unsent() {
        return this.#store.read(['outbox', 'drafts'], async (tx) => ({
            messages: (await tx.all('outbox')).filter(({ state }) => state !== 'pending').length,
            drafts: (await tx.all('drafts')).length,
        }));
    }

    /** @param {string} threadID
     * @param {(draft: any, tx: import('./store/schema.js').Transaction) => any} change */
    #write(threadID, change) {
        return this.#store.write(['drafts', 'files'], async (tx) => {
            const known = await tx.get('drafts', threadID);
            const draft = change({ thread_id: threadID, text: '', replyTo: null, fileIDs: [], ...known }, tx);
            if (draft.text || draft.replyTo || draft.fileIDs.length > 0) tx.put('drafts', draft);
            else tx.delete('drafts', threadID);
            tx.publish('draft/' + threadID);
        });
    }
}
