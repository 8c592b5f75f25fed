// The store in memory obeys the laws of stores; old messages make room.

import assert from 'node:assert/strict';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { dropOldMessages } from '../../Sources/WebClient/page/core/store/make-room.js';
import { commitEvents } from '../../Sources/WebClient/page/core/sync/commit.js';
import { laws } from './support/store-laws.js';

for (const [name, law] of Object.entries(laws)) {
    Deno.test(`in memory: ${name}`, async () => {
        /** @type {string[]} */
        const topics = [];
        await law(new MemoryStore((published) => topics.push(...published)), topics);
    });
}

Deno.test('old messages are dropped from the store and from the ranges of their thread', async () => {
    const store = new MemoryStore();
    await store.write(['threads', 'messages', 'meta'], async (tx) => {
        tx.put('threads', { id: 'long', ranges: [[1, 40], [61, 100]] });
        tx.put('threads', { id: 'short', ranges: [[1, 5]] });
        for (let seq = 1; seq <= 100; seq += 1) {
            if (seq <= 40 || seq > 60) tx.put('messages', { thread_id: 'long', seq });
        }
        for (let seq = 1; seq <= 5; seq += 1) tx.put('messages', { thread_id: 'short', seq });
        tx.put('meta', { key: 'cursor', value: 'c' });
        await tx.all('meta');
    });
    await dropOldMessages((...all) => store.write(...all), 50);
    const [threads, messages] = await store.read(['threads', 'messages'], async (tx) => [
        await tx.all('threads'),
        await tx.all('messages'),
    ]);
    assert.deepEqual(threads.map(({ ranges }) => ranges), [[[31, 40], [61, 100]], [[1, 5]]]);
    assert.equal(messages.length, 55);
    assert.equal((await store.read(['meta'], (tx) => tx.get('meta', 'cursor'))).value, 'c');
});

Deno.test('two leaders commit the events of a cursor once', async () => {
    const store = new MemoryStore();
    await store.write(['meta'], (tx) => tx.put('meta', { key: 'cursor', value: 'a' }));
    const answer = { events: [], cursor: 'b' };
    assert.deepEqual(await commitEvents(store, answer, 'a', 'ann'), { unknown: [], lacking: [] });
    assert.equal(await commitEvents(store, answer, 'a', 'ann'), null);
});
