// What the store does when the browser has no more room.

import { withoutBelow } from '../state/ranges.js';

/** @typedef {import('./schema.js').Table} Table */

/** Makes room: drops all but the newest messages of each thread. The server has them all.
 * @param {import('./schema.js').Store['write']} write
 * @param {number} kept how many stay in each thread */
export async function dropOldMessages(write, kept) {
    const tables = /** @type {Table[]} */ (['threads', 'messages', 'meta']);
    // A full database refuses everything but deletions, so the threads are deleted first and put back afterwards. If this
    // tab ends in between, there is no cursor, and the inbox is loaded again.
    /** @type {Map<string, [number, number][]>} */
    const ranges = new Map();
    const [threads, cursor] = await write(tables, async (tx) => {
        const threads = await tx.all('threads');
        const cursor = await tx.get('meta', 'cursor');
        for (const thread of threads) {
            const span = { from: [thread.id, 0], to: [thread.id, Infinity], limit: kept, isReversed: true };
            const oldest = kept === 0 ? { seq: Infinity } : (await tx.all('messages', span))[kept - 1];
            if (!oldest) continue;
            const first = oldest.seq;
            tx.deleteBetween('messages', [thread.id, 0], [thread.id, first === Infinity ? first : first - 1]);
            ranges.set(thread.id, withoutBelow(thread.ranges, first));
            tx.publish('messages/' + thread.id);
        }
        tx.clear('threads');
        tx.delete('meta', 'cursor');
        return [threads, cursor];
    });
    await write(tables, (tx) => {
        for (const thread of threads) tx.put('threads', { ...thread, ranges: ranges.get(thread.id) ?? thread.ranges });
        if (cursor) tx.put('meta', cursor);
    });
}
