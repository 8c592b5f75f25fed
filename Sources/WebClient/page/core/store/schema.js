// The tables of the store.

/** @typedef {'meta' | 'threads' | 'messages' | 'versions' | 'members' | 'outbox' | 'files' | 'drafts' | 'marks' | 'reactions'} Table */

export const databaseName = 'parley';

/** Raise it with every change of the tables. An upgrade drops what the server has and keeps what only the browser has. */
export const version = 2;

/** Each table's key, and its index. `messages` has rows by place in their thread; `versions` counts the changes of stored
 * messages and members of a thread, so that a page that was read before a change is recognised; `files` has the blobs of
 * messages that are not sent yet, and of drafts.
 * @type {Record<Table, {key: string | string[], isCounted?: boolean, index?: string}>} */
export const schema = {
    meta: { key: 'key' },
    threads: { key: 'id' },
    messages: { key: ['thread_id', 'seq'], index: 'id' },
    versions: { key: 'thread_id' },
    members: { key: 'thread_id' },
    outbox: { key: 'order', isCounted: true },
    files: { key: 'id' },
    drafts: { key: 'thread_id' },
    marks: { key: 'thread_id' },
    reactions: { key: ['thread_id', 'message_id', 'emoji'] },
};

export const tables = /** @type {Table[]} */ (Object.keys(schema));

/** Tables that a reload from the server can fill again. */
export const cachedTables = /** @type {Table[]} */ (['threads', 'messages', 'versions', 'members']);

/** @typedef {string | number | (string | number)[]} Key */

/** Rows of a table or of an index in the order of their keys; both ends are included, and come together.
 * @typedef {{from?: Key, to?: Key, limit?: number, isReversed?: boolean, index?: string}} Span */

/** A transaction. Within one, await nothing but its own methods: IndexedDB commits as soon as no request is pending.
 * Rows are never changed in place: `put` a new object.
 * @typedef {object} Transaction
 * @property {(table: Table, key: Key) => Promise<any>} get undefined if there is no such row
 * @property {(table: Table, span?: Span) => Promise<any[]>} all
 * @property {(table: Table, row: object) => void} put
 * @property {(table: Table, key: Key) => void} delete
 * @property {(table: Table, from: Key, to: Key) => void} deleteBetween
 * @property {(table: Table) => void} clear
 * @property {(topic: string) => void} publish publishes after the commit, to all tabs, that the topic has changed
 */

/** @typedef {object} Store
 * @property {boolean} isShared whether other tabs see the same rows
 * @property {<T>(tables: Table[], work: (tx: Transaction) => Promise<T> | T) => Promise<T>} read
 * @property {<T>(tables: Table[], work: (tx: Transaction) => Promise<T> | T) => Promise<T>} write resolves after the commit
 * @property {() => Promise<void>} erase removes everything
 * @property {() => void} close
 */

export {};
