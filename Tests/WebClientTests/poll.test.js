// The poll loop: every event once, whatever happens to the connection.

import assert from 'node:assert/strict';
import { Chat } from '../../Sources/WebClient/page/core/chat.js';
import { HTTP } from '../../Sources/WebClient/page/core/http/http.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { Poll } from '../../Sources/WebClient/page/core/sync/poll.js';
import { pass } from './support/clock.js';
import { device, eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

/** @typedef {import('../../Sources/WebClient/page/core/types.js').ChatShape} ChatShape */

async function twoPeople() {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const chat = await device(server, ann);
    await until(chat.inbox, ({ threads }) => threads.length === 1);
    return { server, chat, thread, ann, ben };
}

Deno.test('the class Chat has the shape that the interface expects', () => {
    /** @type {ChatShape} */
    const chat = new Chat();
    assert.equal(chat.session.value, undefined);
});

Deno.test('events arrive, and counts are exact', async () => {
    const { server, chat, thread, ann, ben } = await twoPeople();
    for (let n = 1; n <= 3; n += 1) server.say(thread, ben, `text ${n}`);
    const inbox = await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 3);
    assert.equal(inbox.threads[0].last_message?.payload?.text, 'text 3');
    server.say(thread, ann, 'from another device');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 0);
    chat.close();
});

Deno.test('a store that cannot write is reported once, and the connection stays', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const full = new DOMException('The disk is full.', 'QuotaExceededError');
    let isFull = false;
    let refusedWrites = 0;
    class Disk extends MemoryStore {
        /** @override @type {MemoryStore['write']} */
        write(names, work) {
            if (!isFull) return super.write(names, work);
            refusedWrites += 1;
            return Promise.reject(full);
        }
        /** @override @type {MemoryStore['read']} */
        read(names, work) {
            return super.write(names, work);
        }
    }
    const chat = new Chat({ fetch: server.fetch, openStore: (publish) => Promise.resolve(new Disk(publish)) });
    /** @type {unknown[]} */
    const failures = [];
    chat.onfailure = (error) => failures.push(error);
    await chat.start();
    await chat.signIn({ username: 'ann', password: 'a river of tea' });
    await until(chat.connection, (connection) => connection === 'connected');
    /** @type {string[]} */
    const connections = [];
    chat.connection.subscribe((connection) => connections.push(connection));
    isFull = true;
    server.say(thread, ben, 'hello');
    await eventually(() => refusedWrites === 3);
    await pass(0);
    isFull = false;
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
    assert.deepEqual(failures, [full]);
    assert.deepEqual(connections, ['connected']);
    chat.close();
});

Deno.test('after 410 only the named threads are fetched again', async () => {
    const { server, chat, thread, ann, ben } = await twoPeople();
    const other = server.addThread([ann, ben], { title: 'Other' });
    for (let n = 1; n <= 4; n += 1) server.say(other, ben, `kept ${n}`);
    for (let n = 1; n <= 4; n += 1) server.say(thread, ben, `text ${n}`);
    const timeline = chat.openTimeline(thread.id);
    const kept = chat.openTimeline(other.id);
    await until(timeline.view, ({ rows }) => rows.length === 4);
    await until(kept.view, ({ rows }) => rows.length === 4);
    kept.close();
    // A restored backup: the same numbers, other messages.
    thread.messages.length = 2;
    server.say(thread, ben, 'after the backup');
    const begin = server.requests.length;
    /** @type {number[]} */
    const lengths = [];
    const end = timeline.view.subscribe(({ rows }) => lengths.push(rows.length));
    server.expire([thread]);
    const view = await until(timeline.view, (view) => texts(view).at(-1) === 'after the backup');
    assert.deepEqual(texts(view), ['text 1', 'text 2', 'after the backup']);
    end();
    // The rows never disappear in between.
    assert.ok(Math.min(...lengths) >= 3, String(lengths));
    const fetched = server.requests.slice(begin).filter((request) => request.endsWith('/messages'));
    assert.ok(fetched.every((request) => request.includes(thread.id)), String(fetched));
    const again = chat.openTimeline(other.id);
    assert.deepEqual(
        texts(await until(again.view, ({ rows }) => rows.length === 4)),
        [1, 2, 3, 4].map((n) => `kept ${n}`),
    );
    chat.close();
});

Deno.test('after 410 a thread that changes before the inbox is read is fetched again too', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const other = server.addThread([ann, ben], { title: 'Other' });
    for (let n = 1; n <= 2; n += 1) server.say(other, ben, `text ${n}`);
    let beforeInbox = () => {};
    const chat = new Chat({
        fetch: (input, init) => {
            if (String(input).includes('/v1/inbox')) beforeInbox();
            return server.fetch(input, init);
        },
        openStore: (publish) => Promise.resolve(new MemoryStore(publish)),
    });
    await chat.start();
    await chat.signIn({ username: 'ann', password: 'a river of tea' });
    const timeline = chat.openTimeline(other.id);
    await until(timeline.view, ({ rows }) => rows.length === 2);
    beforeInbox = () => {
        beforeInbox = () => {};
        server.withoutEvents(() => other.messages[0].payload = { text: 'edited' });
        server.expire([other]);
    };
    server.expire([thread]);
    await until(timeline.view, (view) => texts(view)[0] === 'edited');
    chat.close();
});

Deno.test('401 signs out and removes everything', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    server.say(thread, ben, 'secret');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
    server.endSession([...server.sessions.keys()][0]);
    await until(chat.session, (session) => session === null);
    assert.deepEqual(await chat.rows('messages'), []);
    assert.deepEqual(await chat.rows('meta'), []);
    chat.close();
});

Deno.test('503 is retried within 4 s, whatever Retry-After says; the state says connecting', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    await until(chat.connection, (connection) => connection === 'connected');
    server.refuseOnce('GET /v1/sync', 503, 'unavailable', { retryAfter: 60 });
    const begin = Date.now();
    server.say(thread, ben, 'one');
    await until(chat.connection, (connection) => connection === 'connecting');
    await until(chat.connection, (connection) => connection === 'connected');
    assert.ok(Date.now() - begin >= 2000 && Date.now() - begin <= 4000, String(Date.now() - begin));
    chat.close();
});

/** A poll whose server answers, until `goAway`. `back` returns how many milliseconds the poll takes to be back once the
 * server answers again, after it was away for five minutes. */
function lonePoll() {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    server.addThread([ann]);
    const http = new HTTP({ fetch: server.fetch });
    http.token = 'token';
    server.sessions.set('token', { userID: ann.id, id: 'session' });
    const poll = new Poll({ store: new MemoryStore(), http, onConnection: () => {}, onPassing: () => {} });
    const end = new AbortController();
    const running = poll.run(ann.id, end.signal);
    const tries = () => server.requests.length;
    return {
        poll,
        tries,
        away: async () => {
            await eventually(() => server.waitingPolls === 1);
            server.goAway();
            await pass(300_000);
        },
        back: async () => {
            server.isAway = false;
            const begin = Date.now();
            await eventually(() => server.waitingPolls === 1);
            return Date.now() - begin;
        },
        close: async () => {
            end.abort();
            await running;
        },
    };
}

Deno.test('a poll that somebody looks at is back within 5 s after minutes', async () => {
    const { away, back, close } = lonePoll();
    for (let round = 1; round <= 3; round += 1) {
        await away();
        assert.ok(await back() <= 5000);
    }
    await close();
});

Deno.test('a poll that nobody looks at is back within 20 s after minutes, and asks less often', async () => {
    const { poll, away, back, tries, close } = lonePoll();
    poll.hide();
    const begin = tries();
    await away();
    assert.ok(tries() - begin <= 300 / 8 + 3, String(tries() - begin));
    assert.ok(await back() <= 20_000);
    await close();
});

Deno.test('a page that becomes visible tries at once', async () => {
    const { poll, away, back, close } = lonePoll();
    poll.hide();
    await away();
    const time = back();
    poll.resume();
    assert.ok(await time < 100);
    await close();
});

Deno.test('a server that goes away is said to be offline, and nothing is missed', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    await until(chat.connection, (connection) => connection === 'connected');
    server.goAway();
    await until(chat.connection, (connection) => connection === 'offline');
    for (let n = 1; n <= 3; n += 1) server.say(thread, ben, `text ${n}`);
    server.isAway = false;
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 3);
    assert.equal(chat.connection.value, 'connected');
    chat.close();
});

Deno.test('a hole in seq is found and fetched', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    for (let n = 1; n <= 3; n += 1) server.say(thread, ben, `text ${n}`);
    const timeline = chat.openTimeline(thread.id);
    await until(timeline.view, ({ rows }) => rows.length === 3);
    server.withoutEvents(() => server.say(thread, ben, 'text 4'));
    server.say(thread, ben, 'text 5');
    await until(timeline.view, ({ rows }) => rows.length === 5);
    chat.close();
});

Deno.test('a page that is older than an event does not undo the event', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    const message = server.say(thread, ben, 'first');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
    for (let n = 1; n <= 60; n += 1) server.say(thread, ben, `text ${n}`);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 61);
    const timeline = chat.openTimeline(thread.id);
    await until(timeline.view, ({ isLoading }) => !isLoading);
    await chat.forget(thread.id);
    // The server reads the page before the event, and the page arrives after the event.
    const path = `GET /v1/threads/${thread.id}/messages`;
    const release = server.holdAnswer(path);
    const loading = timeline.goTo({ seq: 1 });
    await eventually(() => server.requests.at(-1) === path);
    thread.messages[0] = { ...message, payload: { text: 'edited' }, edited_at: '2026-11-21T11:00:00.000Z' };
    server.tell(thread, 'message.updated', thread.messages[0]);
    server.say(thread, ben, 'later');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 62);
    release();
    await loading;
    await pass(1000);
    assert.equal(timeline.view.value?.rows[0].message.payload?.text, 'edited');
    chat.close();
});

Deno.test('members that are older than the own new profile do not undo it', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    // Nobody else is in the thread, so the server sends no event of the thread for the profile.
    const thread = server.addThread([ann]);
    const chat = await device(server, ann);
    await until(chat.inbox, ({ threads }) => threads.length === 1);
    const { members, release } = await heldMembers(server, chat, thread.id);
    ann.name = 'Anna';
    server.publish(ann.id, { type: 'user.updated', data: { ...ann, preferences: {} } });
    await until(chat.me, (me) => me?.name === 'Anna');
    release();
    const [member] = await until(members, (list) => list?.length === 1);
    assert.equal(member.user.name, 'Anna');
    chat.close();
});

Deno.test('a reload shows the own new profile in the members of all threads', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const threads = [server.addThread([ann]), server.addThread([ann])];
    const chat = await device(server, ann);
    await until(chat.inbox, (inbox) => inbox.threads.length === 2);
    const stored = chat.members(threads[0].id);
    // The list stays open: it is fetched again each time that it is opened.
    stored.subscribe(() => {});
    await until(stored, (list) => list?.[0].user.name === 'Ann');
    const { members, release } = await heldMembers(server, chat, threads[1].id);
    // The log no longer has the event, and no thread of the user has changed.
    ann.name = 'Anna';
    server.expire([]);
    await until(chat.me, (me) => me?.name === 'Anna');
    release();
    await until(stored, (list) => list?.[0].user.name === 'Anna', 1);
    const [member] = await until(members, (list) => list?.length === 1);
    assert.equal(member.user.name, 'Anna');
    chat.close();
});

/** Opens a list of members. The server has read it, and the answer waits for `release`.
 * @param {FakeServer} server @param {Chat} chat @param {string} threadID */
async function heldMembers(server, chat, threadID) {
    const path = `GET /v1/threads/${threadID}/members`;
    const release = server.holdAnswer(path);
    const members = chat.members(threadID);
    members.subscribe(() => {});
    await eventually(() => server.requests.includes(path));
    return { members, release };
}

Deno.test('typing is shown until the message arrives', async () => {
    const { server, chat, thread, ben } = await twoPeople();
    server.tell(thread, 'typing', { user_id: ben.id });
    const [person] = await until(chat.typing(thread.id), (people) => people.length === 1);
    assert.equal(person.name, 'Ben');
    server.say(thread, ben, 'done');
    // Sooner than the notice ends by itself.
    await until(chat.typing(thread.id), (people) => people.length === 0, 3);
    chat.close();
});

Deno.test('presence is asked for when it is shown, and follows events', async () => {
    const { server, chat, ben, ann } = await twoPeople();
    const presence = chat.presence(ben.id);
    await until(presence, (value) => value.presence === 'online');
    const data = { user_id: ben.id, presence: 'offline', last_seen_at: '2026-11-21T10:00:00.000Z' };
    server.publish(ann.id, { type: 'presence.updated', data });
    await until(presence, (value) => value.presence === 'offline');
    chat.close();
});

Deno.test('a session that ends while the server is down ends when it is back', async () => {
    const { server, chat } = await twoPeople();
    server.goAway();
    await until(chat.connection, (connection) => connection !== 'connected');
    server.endSession([...server.sessions.keys()][0]);
    server.isAway = false;
    await until(chat.session, (session) => session === null);
    await eventually(() => server.waitingPolls === 0);
    chat.close();
});

Deno.test('a paused poll asks only when nudged, and continues when resumed', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const http = new HTTP({ fetch: server.fetch });
    http.token = 'token';
    server.sessions.set('token', { userID: ann.id, id: 'session' });
    const store = new MemoryStore();
    const head = async () => (await store.read(['threads'], (tx) => tx.get('threads', thread.id)))?.head;
    const poll = new Poll({ store, http, onConnection: () => {}, onPassing: () => {} });
    const end = new AbortController();
    const running = poll.run(ann.id, end.signal);
    await eventually(() => server.waitingPolls === 1);
    poll.pause();
    await eventually(() => server.waitingPolls === 0);
    server.say(thread, ben, 'one');
    const polls = () => server.requests.filter((request) => request === 'GET /v1/sync').length;
    const begin = polls();
    await pass(600_000);
    assert.equal(await head(), 0);
    assert.equal(polls(), begin);
    poll.nudge();
    await pass(600_000);
    assert.equal(await head(), 1);
    assert.equal(polls(), begin + 1);
    server.say(thread, ben, 'two');
    poll.resume();
    await eventually(() => server.waitingPolls === 1);
    assert.equal(await head(), 2);
    end.abort();
    await running;
});
