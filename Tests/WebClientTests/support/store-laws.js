// What holds for every store: for the one in memory (store.test.js) and the one in IndexedDB (in a browser).

/** @typedef {import('../../../Sources/WebClient/page/core/store/schema.js').Store} Store */

/** @param {unknown} value @param {unknown} expected */
function equal(value, expected) {
    const [left, right] = [JSON.stringify(value), JSON.stringify(expected)];
    if (left !== right) throw new Error(`${left} is not ${right}`);
}

/** @param {Store} store @param {[string, number][]} places */
function putMessages(store, places) {
    return store.write(['messages'], (tx) => {
        for (const [thread_id, seq] of places) tx.put('messages', { thread_id, seq, id: `${thread_id}${seq}` });
    });
}

/** @param {Store} store @param {import('../../../Sources/WebClient/page/core/store/schema.js').Span} span */
async function ids(store, span) {
    return (await store.read(['messages'], (tx) => tx.all('messages', span))).map(({ id }) => id);
}

/** Each law gets an empty store, and the topics that the store publishes.
 * @type {Record<string, (store: Store, topics: string[]) => Promise<void>>} */
export const laws = {
    'rows come in the order of their keys, within a span, from either end': async (store) => {
        await putMessages(store, [['b', 1], ['a', 10], ['a', 9], ['a', 2], ['c', 1]]);
        equal(await ids(store, { from: ['a', 0], to: ['a', Infinity] }), ['a2', 'a9', 'a10']);
        equal(await ids(store, { from: ['a', 2], to: ['a', 9] }), ['a2', 'a9']);
        equal(await ids(store, { from: ['a', 0], to: ['a', Infinity], limit: 2, isReversed: true }), ['a10', 'a9']);
        equal(await ids(store, { limit: 1 }), ['a2']);
        equal(await ids(store, { index: 'id', from: 'b1', to: 'b1' }), ['b1']);
    },
    'a put replaces the row of its key, a delete removes it': async (store) => {
        await store.write(['meta'], async (tx) => {
            tx.put('meta', { key: 'cursor', value: 1 });
            tx.put('meta', { key: 'cursor', value: 2 });
            equal(await tx.get('meta', 'cursor'), { key: 'cursor', value: 2 });
            equal(await tx.get('meta', 'nothing') === undefined, true);
            tx.delete('meta', 'cursor');
            equal(await tx.all('meta'), []);
        });
    },
    'a part of a thread is deleted, both ends included': async (store) => {
        await putMessages(store, [['a', 1], ['a', 2], ['a', 3], ['b', 2]]);
        await store.write(['messages'], (tx) => {
            tx.deleteBetween('messages', ['a', 1], ['a', 2]);
        });
        equal(await ids(store, {}), ['a3', 'b2']);
    },
    'a transaction that fails changes nothing and publishes nothing': async (store, topics) => {
        await putMessages(store, [['a', 1]]);
        let message = '';
        try {
            await store.write(['messages', 'meta'], async (tx) => {
                tx.deleteBetween('messages', ['a', 0], ['a', Infinity]);
                tx.put('meta', { key: 'cursor', value: 1 });
                tx.publish('messages/a');
                await tx.get('meta', 'cursor');
                throw new Error('on purpose');
            });
        } catch (error) {
            message = error instanceof Error ? error.message : '';
        }
        equal(message, 'on purpose');
        equal(await ids(store, {}), ['a1']);
        equal(await store.read(['meta'], (tx) => tx.all('meta')), []);
        equal(topics, []);
    },
    'topics are published after the commit, each once': async (store, topics) => {
        await store.write(['meta'], async (tx) => {
            tx.publish('a');
            tx.publish('b');
            tx.publish('a');
            await tx.get('meta', 'cursor');
            equal(topics, []);
        });
        equal(topics, ['a', 'b']);
    },
    'rows of the outbox are counted in the order in which they come, and keep their place': async (store) => {
        for (const id of ['x', 'y', 'z']) {
            await store.write(['outbox'], (tx) => {
                tx.put('outbox', { id });
            });
        }
        await store.write(['outbox'], async (tx) => {
            const [first] = await tx.all('outbox');
            tx.put('outbox', { ...first, state: 'failed' });
        });
        const rows = await store.read(['outbox'], (tx) => tx.all('outbox'));
        equal(rows.map(({ id }) => id), ['x', 'y', 'z']);
        equal(rows[0].state, 'failed');
    },
    'transactions that run at the same time do not mix': async (store) => {
        await Promise.all(Array.from({ length: 20 }, () =>
            store.write(['meta'], async (tx) => {
                const count = (await tx.get('meta', 'count'))?.value ?? 0;
                await tx.all('meta');
                tx.put('meta', { key: 'count', value: count + 1 });
            })));
        equal(await store.read(['meta'], (tx) => tx.get('meta', 'count')), { key: 'count', value: 20 });
    },
    'erased, it is empty and can be used again': async (store) => {
        await putMessages(store, [['a', 1]]);
        await store.erase();
        equal(await ids(store, {}), []);
        await putMessages(store, [['a', 2]]);
        equal(await ids(store, {}), ['a2']);
    },
};
