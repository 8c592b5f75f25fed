// Opens the store.

import { DatabaseStore } from './database-store.js';
import { MemoryStore } from './memory-store.js';

/** Opens the store in IndexedDB, or one in memory where there is none.
 * @param {IDBFactory | null} factory
 * @param {(topics: string[]) => void} publish
 * @param {() => void} onOutdated
 * @returns {Promise<DatabaseStore | MemoryStore>} */
export async function openStore(factory, publish, onOutdated) {
    if (factory) {
        try {
            return await new DatabaseStore(factory, publish, onOutdated).open();
        } catch (error) {
            console.warn('the database cannot be opened; everything is kept in memory until the page is closed', error);
        }
    }
    return new MemoryStore(publish);
}
