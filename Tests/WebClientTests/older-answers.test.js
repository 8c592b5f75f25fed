// An older answer never overwrites a newer one: answers that events, or a reload, have overtaken.

import assert from 'node:assert/strict';
import { Chat } from '../../Sources/WebClient/page/core/chat.js';
import { HTTP } from '../../Sources/WebClient/page/core/http/http.js';
import { Poll } from '../../Sources/WebClient/page/core/sync/poll.js';
import { commitNewThread, edit } from '../../Sources/WebClient/page/core/sync/answers.js';
import { commitEvents, commitSent, fetchPage } from '../../Sources/WebClient/page/core/sync/commit.js';
import { commitReload } from '../../Sources/WebClient/page/core/sync/reload.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { eventually } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';
import { messageOf as sampleOf, partOf } from './support/samples.js';

const me = { id: 'ben', username: 'ben', name: 'Ben', profile_image: null };
const own = partOf(0);
const settings = { muted_until: null, archived: false, pinned: false, unread_count: 0, mention_count: 0 };

/** @param {string} id @returns {any} */
function threadOf(id, head = 3) {
    return {
        id,
        kind: 'group',
        head,
        last_activity_at: '2026-11-21T10:00:00.000Z',
        unread_count: 0,
        mention_count: 0,
        me: own,
    };
}

/** @param {number} seq @param {object} [more] @returns {any} */
const messageOf = (seq, more = {}) => sampleOf({ id: 'm' + seq, seq, sender: me, payload: { text: 'old' }, ...more });

/** A store with the thread `t` and its message 3. */
async function storeOfOne() {
    const store = new MemoryStore();
    let cursor = 'c0';
    const account = { user: me, blocked: [] };
    /** @param {any[]} threads */
    const reload = (threads) => commitReload(store, { threads, cursor, account, staleIDs: [] });
    await reload([{ ...threadOf('t'), last_message: messageOf(3) }]);
    return {
        store,
        reload,
        /** @param {string} type @param {any} data @param {string} [thread_id] */
        event: async (type, data, thread_id = 't') => {
            const before = cursor;
            cursor += '+';
            const events = [{ type, thread_id, data, at: '2026-11-21T10:00:00.000Z' }];
            await commitEvents(store, { events, cursor }, before, 'ben');
        },
        seqs: async () => (await store.read(['messages'], (tx) => tx.all('messages'))).map(({ seq }) => seq),
        threadIDs: async () => (await store.read(['threads'], (tx) => tx.all('threads'))).map(({ id }) => id),
    };
}

/** A connection whose answers are given, each with what happens before it arrives.
 * @param {(() => Promise<any>)[]} answers @returns {any} */
function answering(...answers) {
    const next = () => answers.shift()?.();
    return { get: next, patch: next };
}

Deno.test('a page of messages that are hidden meanwhile is fetched again', async () => {
    const { store, event, seqs } = await storeOfOne();
    const http = answering(
        async () => {
            await event('settings.updated', { ...settings, hidden_before_seq: 3 });
            return { messages: [messageOf(1), messageOf(2)], head: 3, end: true };
        },
        () => Promise.resolve({ messages: [], head: 3, end: true }),
    );
    await fetchPage(store, http, 't', { before: 3 });
    assert.deepEqual(await seqs(), [3]);
});

Deno.test('a page from before a reload is fetched again', async () => {
    const { store, reload, seqs } = await storeOfOne();
    const http = answering(
        async () => {
            await reload([{ ...threadOf('t'), last_message: messageOf(3) }]);
            return { messages: [messageOf(1), messageOf(2)], head: 3, end: true };
        },
        () => Promise.resolve({ messages: [messageOf(2)], head: 3, end: true }),
    );
    await fetchPage(store, http, 't', { before: 3 });
    assert.deepEqual(await seqs(), [2, 3]);
});

Deno.test('the answer of a send does not bring back a message that was deleted meanwhile', async () => {
    const { store, event, seqs } = await storeOfOne();
    await store.write(['outbox'], (tx) => tx.put('outbox', { id: 'm4', thread_id: 't', files: [], state: 'sending' }));
    await event('message.created', messageOf(4));
    await event('message.deleted', { ...messageOf(4), for: 'me', unread_count: 0, mention_count: 0 });
    await commitSent(store, messageOf(4));
    assert.deepEqual(await seqs(), [3]);
});

Deno.test('the answer of a send is shown before its event', async () => {
    const { store, seqs } = await storeOfOne();
    await store.write(['outbox'], (tx) => tx.put('outbox', { id: 'm4', thread_id: 't', files: [], state: 'sending' }));
    await commitSent(store, messageOf(4));
    assert.deepEqual(await seqs(), [3, 4]);
});

Deno.test('the answer of an edit does not bring back a message that was deleted meanwhile', async () => {
    const { store, event, seqs } = await storeOfOne();
    const http = answering(async () => {
        await event('message.deleted', { ...messageOf(3), for: 'me', unread_count: 0, mention_count: 0 });
        return messageOf(3, { edited_at: '2026-11-21T11:00:00.000Z' });
    });
    assert.equal(await edit(store, http, messageOf(3), 'new'), true);
    assert.deepEqual(await seqs(), []);
});

Deno.test('the answer of an edit keeps which reactions are the own ones', async () => {
    const { store, event } = await storeOfOne();
    await event('reaction.updated', { seq: 3, emoji: '👍', user_id: 'ben', put: true, count: 1 });
    const answer = messageOf(3, { edited_at: '2026-11-21T11:00:00.000Z', reactions: { '👍': { count: 2 } } });
    await edit(store, answering(() => Promise.resolve(answer)), messageOf(3), 'new');
    const [message] = await store.read(['messages'], (tx) => tx.all('messages'));
    assert.deepEqual(message.reactions, { '👍': { count: 2, me: true } });
});

Deno.test('a thread that the user has left before its answer arrives stays away', async () => {
    const { store, event, threadIDs } = await storeOfOne();
    const gone = Promise.reject(new Error('404'));
    gone.catch(() => {});
    await commitNewThread(store, answering(() => gone), async () => {
        await event('thread.created', { ...threadOf('new'), members: [] }, 'new');
        await event('member.updated', { user: me, role: 'member', status: 'left', member_count: 1 }, 'new');
        return threadOf('new');
    });
    assert.deepEqual(await threadIDs(), ['t']);
});

Deno.test('a thread in which a message arrives before the answer is asked for again', async () => {
    const { store, event } = await storeOfOne();
    const http = answering(() => Promise.resolve(threadOf('new', 4)));
    await commitNewThread(store, http, async () => {
        await event('message.created', messageOf(4, { thread_id: 'new' }), 'new');
        return threadOf('new', 3);
    });
    const thread = await store.read(['threads'], (tx) => tx.get('threads', 'new'));
    assert.equal(thread.head, 4);
});

Deno.test('a thread that an event named is loaded, although the first requests fail', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const http = new HTTP({ fetch: server.fetch });
    http.token = 'token';
    server.sessions.set('token', { userID: ann.id, id: 'session' });
    const store = new MemoryStore();
    const poll = new Poll({ store, http, onConnection: () => {}, onPassing: () => {} });
    const end = new AbortController();
    const running = poll.run(ann.id, end.signal);
    await eventually(() => server.waitingPolls === 1);
    // The pages of the inbox did not have the thread, and its event names it.
    const logs = server.logs;
    server.logs = new Map();
    const thread = server.addThread([ann, ben]);
    server.logs = logs;
    for (let tries = 1; tries <= 6; tries += 1) server.refuseOnce(`GET /v1/threads/${thread.id}`, 503, 'unavailable');
    server.say(thread, ben, 'hello');
    await eventually(async () => (await store.read(['threads'], (tx) => tx.get('threads', thread.id)))?.head === 1, 60);
    end.abort();
    await running;
});

Deno.test('of two lists of blocked people the one that was requested last is shown', async () => {
    /** @type {((people: string[]) => void)[]} */
    const answers = [];
    const fetch = /** @type {any} */ (async () => {
        const people = await new Promise((/** @type {(people: string[]) => void} */ resolve) => answers.push(resolve));
        return new Response(JSON.stringify({ blocks: people.map((id) => ({ user: { id } })) }), { status: 200 });
    });
    const chat = new Chat({ fetch });
    chat.blocks.subscribe(() => {});
    const loads = /** @type {any} */ (chat).loadBlocks();
    await eventually(() => answers.length === 2);
    answers[1](['ann']);
    await loads;
    answers[0]([]);
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    await eventually(() => chat.blocks.value?.length === 1);
    assert.deepEqual(chat.blocks.value?.map(({ id }) => id), ['ann']);
});
