// Loads everything again: at the first start, and after the cursor has expired.

import { problemOf } from '../http/problem.js';
import { foldAccount, foldReload } from '../state/fold-reload.js';
import { applyChanges, raiseAllVersions, readerOf, recordTables } from '../store/records.js';
import { forgetReadMarks } from './read-marks.js';

/** @typedef {import('../store/schema.js').Store} Store */
/** @typedef {import('../state/records.js').Account} Account */
/** @typedef {import('../http/http.js').HTTP} HTTP */
/** @typedef {import('../types.js').Thread} Thread */

/** Loads the whole inbox and the account.
 * @param {HTTP} http
 * @param {Store} store
 * @param {string | null} expired the cursor that the server refused; null at the first start
 * @param {AbortSignal} signal */
export async function reload(http, store, expired, signal) {
    const threads = [];
    let cursor;
    for await (const answer of http.pages('/v1/inbox')) {
        // Events after the first page's cursor may be in the later pages already; the reducer recognises them.
        cursor ??= answer.cursor;
        threads.push(...answer.threads);
        if (signal.aborted) return;
    }
    // Everything else is read after the cursor: no event follows for a change that is older than the cursor.
    const [account, staleIDs] = await Promise.all([
        readAccount(http),
        expired === null ? [] : readStaleIDs(http, expired, threads, signal),
    ]);
    await commitReload(store, { threads, cursor, account, staleIDs });
}

/** Returns the threads whose stored messages cannot be trusted. The expired cursor is asked again after the inbox: the
 * first refusal does not name threads that changed between it and the inbox.
 * @param {HTTP} http
 * @param {string} expired
 * @param {Thread[]} threads
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>} */
async function readStaleIDs(http, expired, threads, signal) {
    try {
        await http.call('GET', '/v1/sync', { query: { cursor: expired, wait: 0, limit: 1 }, signal });
        // The cursor was expired, and now it is not: nothing is certain.
        return threads.map(({ id }) => id);
    } catch (error) {
        const problem = problemOf(error);
        if (problem.status !== 410) throw error;
        return problem.body.threads.map((/** @type {{id: string}} */ { id }) => id);
    }
}

/** @param {HTTP} http @returns {Promise<Account>} */
async function readAccount(http) {
    const user = await http.get('/v1/users/me');
    const blocks = await http.list('/v1/users/me/blocks', 'blocks');
    return { user, blocked: blocks.map((/** @type {any} */ { user }) => user.id) };
}

/** Commits a whole inbox: at the first start, and after the cursor has expired.
 * @param {Store} store
 * @param {{threads: Thread[], cursor: string, account: Account, staleIDs: string[]}} answers `staleIDs`: threads whose
 * stored messages cannot be trusted */
export function commitReload(store, { threads, cursor, account, staleIDs }) {
    return store.write(recordTables, async (tx) => {
        applyChanges(tx, await foldAccount(account, readerOf(tx)));
        const changes = await foldReload(threads, staleIDs, readerOf(tx));
        applyChanges(tx, changes);
        raiseAllVersions(tx);
        await forgetReadMarks(tx, changes.threads);
        tx.put('meta', { key: 'cursor', value: cursor });
        // The inbox has every thread of the user.
        tx.delete('meta', 'unknown');
        tx.publish('inbox');
    });
}
