// The store in IndexedDB: all tabs of a browser share it, and it outlives them.

import { cachedTables, databaseName, schema, tables, version } from './schema.js';

/** @typedef {import('./schema.js').Table} Table */
/** @typedef {import('./schema.js').Key} Key */

export class DatabaseStore {
    isShared = true;
    /** @type {Promise<IDBDatabase> | null} */
    #database = null;
    #factory;
    #publish;
    #onOutdated;

    /** @param {IDBFactory} factory
     * @param {(topics: string[]) => void} [publish] is called after a commit with the topics that changed
     * @param {() => void} [onOutdated] is called when another tab has a newer version of the page */
    constructor(factory, publish = () => {}, onOutdated = () => {}) {
        this.#factory = factory;
        this.#publish = publish;
        this.#onOutdated = onOutdated;
    }

    /** Opens the database. Rejects where there is none, such as in some private windows. */
    async open() {
        await this.#open();
        return this;
    }

    /** @template T
     * @param {Table[]} names
     * @param {(tx: import('./schema.js').Transaction) => Promise<T> | T} work
     * @returns {Promise<T>} */
    read(names, work) {
        return this.#run('readonly', names, work);
    }

    /** @template T
     * @param {Table[]} names
     * @param {(tx: import('./schema.js').Transaction) => Promise<T> | T} work
     * @returns {Promise<T>} */
    async write(names, work) {
        // Stored messages can be fetched again. First the old ones make room; if that is not enough, all do.
        for (const kept of [200, 0]) {
            try {
                return await this.#run('readwrite', names, work);
            } catch (error) {
                if (!isOutOfSpace(error)) throw error;
                const { dropOldMessages } = await import('./make-room.js');
                await dropOldMessages((...all) => this.#run('readwrite', ...all), kept);
            }
        }
        return await this.#run('readwrite', names, work);
    }

    /** Removes everything, the database included. It is made again when it is used again. */
    async erase() {
        await this.#run('readwrite', tables, (tx) => {
            for (const table of tables) tx.clear(table);
        });
        const database = await this.#open();
        this.#database = null;
        database.close();
        const request = this.#factory.deleteDatabase(databaseName);
        // Another tab may block it for a while; the rows are gone in any case.
        await new Promise((resolve) => request.onsuccess = request.onerror = request.onblocked = resolve);
    }

    close() {
        this.#database?.then((database) => database.close(), () => {});
        this.#database = Promise.reject(new Error('The store is closed.'));
        this.#database.catch(() => {});
    }

    #open() {
        this.#database ??= new Promise((resolve, reject) => {
            const request = this.#factory.open(databaseName, version);
            request.onupgradeneeded = (event) => upgrade(request, event.oldVersion);
            request.onerror = () => {
                this.#database = null;
                reject(request.error);
            };
            request.onsuccess = () => {
                const database = request.result;
                // The browser closed the database (its files were removed, its process crashed): open it again.
                database.onclose = () => this.#database = null;
                database.onversionchange = ({ newVersion }) => {
                    database.close();
                    this.#database = null;
                    if (newVersion === null) return;
                    this.close();
                    this.#onOutdated();
                };
                resolve(database);
            };
        });
        return this.#database;
    }

    /** @template T
     * @param {IDBTransactionMode} mode
     * @param {Table[]} names
     * @param {(tx: import('./schema.js').Transaction) => Promise<T> | T} work
     * @returns {Promise<T>} */
    async #run(mode, names, work) {
        const transaction = (await this.#open()).transaction(names, mode);
        const done = completion(transaction);
        /** @type {Set<string>} */
        const topics = new Set();
        let result;
        try {
            result = await work({
                get: (table, key) => answer(transaction.objectStore(table).get(key)),
                all: (table, span = {}) => all(transaction.objectStore(table), span),
                put: (table, row) => void transaction.objectStore(table).put(row),
                delete: (table, key) => void transaction.objectStore(table).delete(key),
                deleteBetween: (table, from, to) =>
                    void transaction.objectStore(table).delete(IDBKeyRange.bound(from, to)),
                clear: (table) => void transaction.objectStore(table).clear(),
                publish: (topic) => topics.add(topic),
            });
        } catch (error) {
            try {
                transaction.abort();
            } catch {
                // The transaction has ended by itself. `done` has the reason.
            }
            await done.catch((/** @type {unknown} */ reason) => {
                if (isOutOfSpace(reason)) throw reason;
            });
            throw error;
        }
        try {
            // A page that is being closed does not live to see the end of its requests.
            transaction.commit();
        } catch {
            // The transaction has ended by itself.
        }
        // The answers of a read are complete. Only a write waits for its commit.
        if (mode === 'readonly') return result;
        await done;
        if (topics.size > 0) this.#publish([...topics]);
        return result;
    }
}

/** @param {IDBOpenDBRequest} request @param {number} oldVersion */
function upgrade(request, oldVersion) {
    const database = request.result;
    for (const table of tables) {
        const { key, isCounted, index } = schema[table];
        const isCached = cachedTables.includes(table);
        if (oldVersion > 0 && isCached && database.objectStoreNames.contains(table)) database.deleteObjectStore(table);
        if (database.objectStoreNames.contains(table)) continue;
        const made = database.createObjectStore(table, { keyPath: key, autoIncrement: isCounted ?? false });
        if (index) made.createIndex(index, index);
    }
    // Without the rows that it led to, the cursor means nothing: the inbox is loaded again.
    if (oldVersion > 0) /** @type {IDBTransaction} */ (request.transaction).objectStore('meta').delete('cursor');
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function completion(transaction) {
    const done = new Promise((resolve, reject) => {
        transaction.oncomplete = () => resolve(undefined);
        transaction.onabort = () => reject(transaction.error ?? new Error('The transaction was aborted.'));
    });
    done.catch(() => {});
    return /** @type {Promise<void>} */ (done);
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function answer(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

/** @param {IDBObjectStore} table @param {import('./schema.js').Span} span @returns {Promise<any[]>} */
function all(table, { from, to, limit, isReversed = false, index }) {
    const source = index ? table.index(index) : table;
    const range = from === undefined ? null : IDBKeyRange.bound(from, to);
    if (!isReversed) return answer(source.getAll(range, limit));
    return new Promise((resolve, reject) => {
        /** @type {any[]} */
        const rows = [];
        const request = source.openCursor(range, 'prev');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
            const cursor = request.result;
            if (cursor) rows.push(cursor.value);
            if (!cursor || rows.length === limit) return resolve(rows);
            cursor.continue();
        };
    });
}

/** @param {unknown} error */
function isOutOfSpace(error) {
    return error instanceof Error && error.name === 'QuotaExceededError';
}
