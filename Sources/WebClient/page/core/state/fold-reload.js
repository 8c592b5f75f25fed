// The client's state as a function of everything that is loaded again. The page needs this module at the first start
// and after the cursor has expired, so the first load leaves it out.

/** @import { Reader, Changes, Thread, Account } from './records.js' */

import { putRenamedEverywhere } from './events.js';
import { putInboxThread } from './fold.js';
import { WorkingSet } from './working-set.js';

/** Replaces all threads by those of all pages of an inbox. Store the cursor of its first page together with the
 * changes. Messages of `staleIDs` are deleted: the answer 410 names these threads.
 * @param {Thread[]} threads
 * @param {string[]} staleIDs
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldReload(threads, staleIDs, reader) {
    const records = new WorkingSet(reader);
    const ids = new Set(threads.map(({ id }) => id));
    const stale = new Set(staleIDs);
    for (const known of await records.threads()) {
        if (stale.has(known.id) || !ids.has(known.id)) records.deleteThread(known.id);
    }
    for (const thread of threads) await putInboxThread(thread, records);
    return records.changes;
}

/** Stores the user's own profile and the blocked people. A new profile is shown in all threads: the event that brings it
 * may be one that the log no longer has.
 * @param {Account} account
 * @param {Reader} reader
 * @returns {Promise<Changes>}
 */
export async function foldAccount(account, reader) {
    const records = new WorkingSet(reader);
    const before = (await records.account())?.user;
    records.putAccount(account);
    const { user } = account;
    const fields = /** @type {const} */ (['name', 'profile_image', 'status_text']);
    if (before && fields.some((field) => before[field] !== user[field])) await putRenamedEverywhere(user, records);
    return records.changes;
}
