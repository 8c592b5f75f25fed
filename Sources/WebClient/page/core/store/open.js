// Opens the store.

import { DatabaseStore } from './database-store.js';

/** @typedef {import('./schema.js').Store} Store */
/** @typedef {import('./schema.js').Table} Table */
/** @typedef {import('./schema.js').Transaction} Transaction */

/** A store that is opened later: transactions wait until then.
 * @implements {Store} */
export class LateStore {
    isShared = false;
    /** @type {PromiseWithResolvers<Store>} */
    #opening = Promise.withResolvers();

    /** @param {Store} store */
    open(store) {
        this.isShared = store.isShared;
        this.#opening.resolve(store);
    }

    /** @template T @param {Table[]} tables @param {(tx: Transaction) => Promise<T> | T} work */
    async read(tables, work) {
        return await (await this.#opening.promise).read(tables, work);
    }

    /** @template T @param {Table[]} tables @param {(tx: Transaction) => Promise<T> | T} work */
    async write(tables, work) {
        return await (await this.#opening.promise).write(tables, work);
    }

    async erase() {
        await (await this.#opening.promise).erase();
    }

    close() {
        void this.#opening.promise.then((store) => store.close());
    }
}

/** Opens the store in IndexedDB, or one in memory where there is none.
 * @param {(topics: string[]) => void} publish is called after a commit with the topics that changed
 * @param {() => void} onOutdated is called when another tab has a newer version of the page
 * @returns {Promise<Store>} */
export async function openStore(publish, onOutdated) {
    try {
        return await new DatabaseStore(indexedDB, publish, onOutdated).open();
    } catch (error) {
        console.warn('without a database, everything is kept in memory until the page is closed', error);
        const { MemoryStore } = await import('./memory-store.js');
        return new MemoryStore(publish);
    }
}
