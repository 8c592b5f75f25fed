// Makes room in the store.

import { withoutBelow } from '../state/ranges.js';

/** Drops all but the newest messages of each thread. The server has them all.
 * @param {import('./schema.js').Transaction} tx
 * @param {number} kept how many stay in each thread */
export async function dropOldMessages(tx, kept) {
    for (const thread of await tx.all('threads')) {
        const id = thread.id;
        const newest = await tx.all('messages', {
            from: [id, 0],
            to: [id, Infinity],
            limit: kept + 1,
            isReversed: true,
        });
        if (newest.length <= kept) continue;
        const first = kept === 0 ? Infinity : newest[kept - 1].seq;
        tx.deleteBetween('messages', [id, 0], [id, kept === 0 ? Infinity : first - 1]);
        tx.put('threads', { ...thread, ranges: withoutBelow(thread.ranges, first) });
        tx.note('messages/' + id);
    }
}
