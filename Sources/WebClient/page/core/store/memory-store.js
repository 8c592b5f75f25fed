// The store in memory: for private windows without IndexedDB, and for tests.

import { schema, tables } from './schema.js';

/** @typedef {import('./schema.js').Table} Table */
/** @typedef {import('./schema.js').Key} Key */
/** @typedef {import('./schema.js').Transaction} Transaction */

/** Rows in the order of their keys. A list is never changed in place, so an old one can come back.
 * @typedef {readonly {key: Key, row: any}[]} Rows */

export class MemoryStore {
    isShared = false;
    /** @type {Record<string, Rows>} */
    #rows = Object.fromEntries(tables.map((table) => [table, []]));
    #counter = 0;
    /** @type {Promise<unknown>} */
    #queue = Promise.resolve();
    #publish;

    /** @param {(topics: string[]) => void} [publish] is called after a commit with the topics that changed */
    constructor(publish = () => {}) {
        this.#publish = publish;
    }

    /** @template T
     * @param {Table[]} names
     * @param {(tx: Transaction) => Promise<T> | T} work
     * @returns {Promise<T>} */
    read(names, work) {
        return this.write(names, work);
    }

    /** Runs one transaction after the other.
     * @template T
     * @param {Table[]} names
     * @param {(tx: Transaction) => Promise<T> | T} work
     * @returns {Promise<T>} */
    write(names, work) {
        const result = this.#queue.then(() => this.#run(names, work));
        this.#queue = result.catch(() => {});
        return result;
    }

    async erase() {
        await this.write(tables, (tx) => tables.forEach((table) => tx.clear(table)));
    }

    close() {}

    /** @template T
     * @param {Table[]} names
     * @param {(tx: Transaction) => Promise<T> | T} work */
    async #run(names, work) {
        const before = { ...this.#rows };
        /** @type {Set<string>} */
        const topics = new Set();
        const rowsOf = /** @param {Table} table */ (table) => {
            if (!names.includes(table)) throw new Error(`The transaction does not include ${table}.`);
            return this.#rows[table];
        };
        /** @param {Table} table @param {Key} [from] @param {Key} [to] @param {{key: Key, row: any}[]} entries */
        const replace = (table, from, to, ...entries) => {
            const [start, end] = placesOf(rowsOf(table), from, to);
            this.#rows[table] = rowsOf(table).toSpliced(start, end - start, ...entries);
        };
        try {
            const result = await work({
                get: (table, key) => Promise.resolve(select(rowsOf(table), { from: key, to: key })[0]),
                all: (table, span = {}) => Promise.resolve(select(rowsOf(table), span)),
                put: (table, row) => {
                    if (schema[table].isCounted) row = { order: this.#counter += 1, ...row };
                    const key = keyOf(table, row);
                    replace(table, key, key, { key, row });
                },
                delete: (table, key) => replace(table, key, key),
                deleteBetween: (table, from, to) => replace(table, from, to),
                clear: (table) => replace(table),
                publish: (topic) => topics.add(topic),
            });
            if (topics.size > 0) this.#publish([...topics]);
            return result;
        } catch (error) {
            this.#rows = before;
            throw error;
        }
    }
}

/** @param {Rows} rows @param {import('./schema.js').Span} span @returns {any[]} */
function select(rows, { from, to, limit = Infinity, isReversed = false, index }) {
    const found = index ? rows.filter(({ row }) => row[index] === from) : rows.slice(...placesOf(rows, from, to));
    if (isReversed) found.reverse();
    return found.slice(0, limit).map(({ row }) => row);
}

/** Returns where the keys of a closed interval begin, and the place after their end.
 * @param {Rows} rows @param {Key} [from] @param {Key} [to] @returns {[number, number]} */
function placesOf(rows, from, to) {
    const start = from === undefined ? 0 : placeOf(rows, (key) => compare(key, from) >= 0);
    return [start, to === undefined ? rows.length : placeOf(rows, (key) => compare(key, to) > 0)];
}

/** Returns the first place at which the test holds; it holds for all later ones.
 * @param {Rows} rows @param {(key: Key) => boolean} test */
function placeOf(rows, test) {
    let [low, high] = [0, rows.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (test(rows[middle].key)) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** @param {Table} table @param {any} row @returns {Key} */
function keyOf(table, row) {
    const { key } = schema[table];
    return Array.isArray(key) ? key.map((part) => row[part]) : row[key];
}

/** The order of keys in IndexedDB, of keys of one kind.
 * @param {Key} left @param {Key} right @returns {number} */
function compare(left, right) {
    if (Array.isArray(left) && Array.isArray(right)) return compare(left[0], right[0]) || compare(left[1], right[1]);
    return left < right ? -1 : left > right ? 1 : 0;
}
