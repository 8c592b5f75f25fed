// The store in memory: for private windows without IndexedDB, and for tests.

import { schema, tables } from './schema.js';

/** @typedef {import('./schema.js').Table} Table */
/** @typedef {import('./schema.js').Key} Key */

/** Rows in the order of their keys. */
class Rows {
    /** @type {{key: Key, row: any}[]} */
    entries = [];

    /** Returns the place of the first entry whose key is not below this one.
     * @param {Key} key */
    placeOf(key) {
        let low = 0;
        let high = this.entries.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (compare(this.entries[middle].key, key) < 0) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    /** @param {Key} key */
    get(key) {
        const entry = this.entries[this.placeOf(key)];
        return entry && compare(entry.key, key) === 0 ? entry.row : undefined;
    }

    /** Puts a row, or removes it if `row` is undefined.
     * @param {Key} key @param {any} row */
    set(key, row) {
        const place = this.placeOf(key);
        const isThere = place < this.entries.length && compare(this.entries[place].key, key) === 0;
        if (row === undefined) this.entries.splice(place, isThere ? 1 : 0);
        else this.entries.splice(place, isThere ? 1 : 0, { key, row });
    }

    /** @param {Key | undefined} from @param {Key | undefined} to */
    between(from, to) {
        const start = from === undefined ? 0 : this.placeOf(from);
        let end = to === undefined ? this.entries.length : this.placeOf(to);
        if (to !== undefined && end < this.entries.length && compare(this.entries[end].key, to) === 0) end += 1;
        return this.entries.slice(start, end);
    }
}

export class MemoryStore {
    isShared = false;
    /** @type {Map<Table, Rows>} */
    #tables = new Map(tables.map((table) => [table, new Rows()]));
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
     * @param {(tx: import('./schema.js').Transaction) => Promise<T>} work
     * @returns {Promise<T>} */
    read(names, work) {
        return this.write(names, work);
    }

    /** @template T
     * @param {Table[]} names
     * @param {(tx: import('./schema.js').Transaction) => Promise<T>} work
     * @returns {Promise<T>} */
    write(names, work) {
        const result = this.#queue.then(() => this.#run(names, work));
        this.#queue = result.catch(() => {});
        return result;
    }

    erase() {
        return this.write(tables, (tx) => {
            for (const table of tables) tx.clear(table);
            return Promise.resolve();
        });
    }

    close() {}

    /** @template T
     * @param {Table[]} names
     * @param {(tx: import('./schema.js').Transaction) => Promise<T>} work */
    async #run(names, work) {
        /** @type {(() => void)[]} */
        const undo = [];
        /** @type {Set<string>} */
        const topics = new Set();
        const rowsOf = /** @param {Table} table */ (table) => {
            if (!names.includes(table)) throw new Error(`The transaction does not include ${table}.`);
            return /** @type {Rows} */ (this.#tables.get(table));
        };
        const set = /** @param {Table} table @param {Key} key @param {any} row */ (table, key, row) => {
            const rows = rowsOf(table);
            const old = rows.get(key);
            undo.push(() => rows.set(key, old));
            rows.set(key, row);
        };
        const deleteBetween = /** @param {Table} table @param {Key} [from] @param {Key} [to] */ (table, from, to) => {
            for (const { key } of rowsOf(table).between(from, to)) set(table, key, undefined);
        };
        try {
            const result = await work({
                get: (table, key) => Promise.resolve(rowsOf(table).get(key)),
                all: (table, span = {}) => Promise.resolve(this.#all(rowsOf(table), span)),
                put: (table, row) => {
                    const counted = schema[table].isCounted && !('order' in row)
                        ? { ...row, order: this.#counter += 1 }
                        : row;
                    set(table, keyOf(table, counted), counted);
                },
                delete: (table, key) => set(table, key, undefined),
                deleteBetween,
                clear: (table) => deleteBetween(table),
                note: (topic) => topics.add(topic),
            });
            if (topics.size > 0) this.#publish([...topics]);
            return result;
        } catch (error) {
            for (const step of undo.reverse()) step();
            throw error;
        }
    }

    /** @param {Rows} rows @param {import('./schema.js').Span} span */
    #all(rows, { from, to, limit = Infinity, isReversed = false, index }) {
        const entries = index
            ? rows.entries.filter(({ row }) => isWithin(row[index], from, to))
            : rows.between(from, to);
        if (isReversed) entries.reverse();
        return entries.slice(0, limit).map(({ row }) => row);
    }
}

/** @param {Table} table @param {any} row @returns {Key} */
function keyOf(table, row) {
    const { key } = schema[table];
    return Array.isArray(key) ? key.map((part) => row[part]) : row[key];
}

/** @param {Key} key @param {Key | undefined} from @param {Key | undefined} to */
function isWithin(key, from, to) {
    return (from === undefined || compare(key, from) >= 0) && (to === undefined || compare(key, to) <= 0);
}

/** The order of keys in IndexedDB: numbers, texts, lists.
 * @param {Key} left @param {Key} right @returns {number} */
function compare(left, right) {
    if (Array.isArray(left) && Array.isArray(right)) {
        for (let place = 0; place < Math.min(left.length, right.length); place += 1) {
            const order = compare(left[place], right[place]);
            if (order !== 0) return order;
        }
        return left.length - right.length;
    }
    if (typeof left === typeof right) return left < right ? -1 : left > right ? 1 : 0;
    const rank = /** @param {Key} key */ (key) => typeof key === 'number' ? 0 : typeof key === 'string' ? 1 : 2;
    return rank(left) - rank(right);
}
