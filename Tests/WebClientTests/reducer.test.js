// The reducer, where the client vectors have no example: answers that are older than events.

/** @import { Message, Reader, Thread } from '../../Sources/WebClient/page/core/state/records.js' */

import { foldReload } from '../../Sources/WebClient/page/core/state/fold-reload.js';
import { foldEvents, foldMessage, foldPage } from '../../Sources/WebClient/page/core/state/fold.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { applyChanges, readerOf, recordTables } from '../../Sources/WebClient/page/core/store/records.js';
import { assertSame } from './assertions.js';
import { messageOf, partOf } from './support/samples.js';

/** A message of Ann.
 * @param {number} seq
 * @param {Partial<Message>} [changes]
 */
const message = (seq, changes) =>
    messageOf({ id: `message-${seq}`, thread_id: 'thread', seq, payload: { text: `Number ${seq}` }, ...changes });

/** Ben's device, with one thread of which it knows the last message.
 * @param {Message} last
 */
async function device(last) {
    const store = new MemoryStore();
    /** @param {(reader: Reader) => Promise<import('../../Sources/WebClient/page/core/state/records.js').Changes>} fold */
    const change = (fold) => store.write(recordTables, async (tx) => applyChanges(tx, await fold(readerOf(tx))));
    /** @type {Thread} */
    const thread = {
        id: 'thread',
        kind: 'group',
        title: 'Trip',
        image: null,
        member_count: 2,
        last_message: last,
        unread_count: 1,
        mention_count: 0,
        last_activity_at: last.timestamp,
        head: last.seq,
        me: { ...partOf(last.seq - 1), delivered_seq: last.seq },
    };
    await change((reader) => foldReload([thread], [], reader));
    return {
        change,
        /** @param {{type: string, data: any}[]} events */
        receive: (events) =>
            change((reader) =>
                foldEvents(events.map((event) => ({ thread_id: 'thread', at: '', ...event })), 'ben', reader)
            ),
        thread: () => store.read(recordTables, (tx) => readerOf(tx).thread('thread')),
        /** @param {number} seq */
        message: (seq) => store.read(recordTables, (tx) => readerOf(tx).message('thread', seq)),
    };
}

Deno.test('an answer to a send does not undo an edit or a reaction that events have brought', async () => {
    const ben = await device(message(1));
    const edited = message(2, { payload: { text: 'Edited' }, edited_at: '2026-01-01T00:00:01.000Z' });
    const reaction = { message_id: 'message-2', seq: 2, user_id: 'ben', emoji: '👍', put: true, count: 1 };
    await ben.receive([
        { type: 'message.created', data: message(2) },
        { type: 'message.updated', data: edited },
        { type: 'reaction.updated', data: reaction },
    ]);
    await ben.change((reader) => foldMessage(message(2), reader));
    assertSame((await ben.message(2))?.payload, { text: 'Edited' }, 'payload');
    assertSame((await ben.message(2))?.reactions, { '👍': { count: 1, me: true } }, 'reactions');
    const again = message(2, { payload: { text: 'Edited again' }, edited_at: '2026-01-01T00:00:02.000Z' });
    await ben.change((reader) => foldMessage(again, reader));
    assertSame((await ben.thread())?.last_message?.payload, { text: 'Edited again' }, 'last message');
});

Deno.test('an answer to a send before its event changes no count, and the event counts then', async () => {
    const ben = await device(message(1));
    await ben.change((reader) => foldMessage(message(3), reader));
    assertSame((await ben.thread())?.unread_count, 1, 'unread_count');
    assertSame((await ben.thread())?.head, 1, 'head');
    await ben.receive([2, 3].map((seq) => ({ type: 'message.created', data: message(seq) })));
    assertSame((await ben.thread())?.unread_count, 3, 'unread_count');
    assertSame((await ben.thread())?.ranges, [[1, 3]], 'ranges');
});

Deno.test('the device keeps a payload that the server has forgotten', async () => {
    const ben = await device(message(1));
    const forgotten = message(1, { payload: null });
    await ben.change((reader) => foldPage({ messages: [forgotten], head: 1, end: true }, {}, 'thread', reader));
    assertSame((await ben.message(1))?.payload, { text: 'Number 1' }, 'payload');
    await ben.receive([{ type: 'message.deleted', data: { ...forgotten, deleted_at: '2026-01-01T00:00:05.000Z' } }]);
    assertSame((await ben.message(1))?.payload, null, 'payload');
});

Deno.test('a page that is later than the events shows its messages, and the events count them', async () => {
    const ben = await device(message(1));
    await ben.change((reader) =>
        foldPage({ messages: [message(2), message(3)], head: 3, end: false }, {}, 'thread', reader)
    );
    assertSame((await ben.thread())?.last_message?.seq, 3, 'last message');
    assertSame((await ben.thread())?.unread_count, 1, 'unread_count');
    await ben.receive([{ type: 'message.created', data: message(2) }]);
    assertSame((await ben.thread())?.unread_count, 2, 'unread_count');
});
