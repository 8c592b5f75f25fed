// The outbox: each message once, in the order of its thread, whatever the network does.

import assert from 'node:assert/strict';
import { pass } from './support/clock.js';
import { device, eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

/** @param {Partial<import('./support/fake-server.js').Faults>} [faults] */
async function twoPeople(faults) {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const thread = server.addThread([ann, server.addUser('Ben')]);
    const chat = await device(server, ann);
    await until(chat.inbox, ({ threads }) => threads.length === 1);
    Object.assign(server.faults, faults);
    return { server, chat, thread };
}

Deno.test('messages arrive once and in order while requests and answers are lost, doubled and reordered', async () => {
    const { server, chat, thread } = await twoPeople({ lostRequests: 0.1, lostAnswers: 0.1, doubled: 0.2, delay: 5 });
    const other = server.addThread([...server.users.values()], { title: 'Other' });
    const expected = Array.from({ length: 12 }, (_, n) => `text ${n}`);
    for (const text of expected) {
        await chat.send(thread.id, { text });
        await chat.send(other.id, { text });
    }
    await eventually(() => thread.messages.length === 12 && other.messages.length === 12);
    assert.deepEqual(thread.messages.map(({ payload }) => payload.text), expected);
    assert.deepEqual(other.messages.map(({ payload }) => payload.text), expected);
    const timeline = chat.openTimeline(thread.id);
    const view = await until(
        timeline.view,
        ({ rows }) => rows.length === 12 && rows.every((row) => row.state === 'stored'),
    );
    assert.deepEqual(texts(view), expected);
    chat.close();
});

Deno.test('a message in the outbox moves its conversation to the top of the inbox, and it stays there', async () => {
    const { server, chat, thread } = await twoPeople();
    const [ann, ben] = server.users.values();
    const other = server.addThread([ann, ben], { title: 'Other' });
    server.say(thread, ben, 'earlier');
    server.say(other, ben, 'later');
    const order = () => chat.inbox.value?.threads.map(({ id }) => id);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 2);
    assert.deepEqual(order(), [other.id, thread.id]);
    server.goAway();
    await chat.send(thread.id, { text: 'on its way' });
    await until(chat.inbox, ({ threads }) => threads[0].last_message?.payload?.text === 'on its way', 1);
    assert.deepEqual(order(), [thread.id, other.id]);
    /** @type {Set<string | undefined>} */
    const first = new Set();
    chat.inbox.subscribe(({ threads }) => first.add(threads[0].id));
    server.isAway = false;
    await until(chat.inbox, ({ threads }) => (threads[0].last_message?.seq ?? 0) > 0);
    await until(chat.connection, (connection) => connection === 'connected');
    assert.deepEqual(first, new Set([thread.id]));
    chat.close();
});

Deno.test('a row keeps its key from the outbox to the log', async () => {
    const { server, chat, thread } = await twoPeople();
    const timeline = chat.openTimeline(thread.id);
    await until(timeline.view, () => true);
    server.isAway = true;
    const id = await chat.send(thread.id, { text: 'later' });
    const waiting = await until(timeline.view, ({ rows }) => rows.length === 1);
    assert.equal(waiting.rows[0].state, 'sending');
    assert.equal(waiting.rows[0].message.seq, 0);
    server.isAway = false;
    const stored = await until(timeline.view, ({ rows }) => rows[0].state === 'stored');
    assert.deepEqual(stored.rows.map(({ key }) => key), [id]);
    assert.equal(stored.rows[0].message.seq, 1);
    chat.close();
});

Deno.test('a message that a moderator must approve waits, is not sent again, and ends with its event', async () => {
    const { server, chat, thread } = await twoPeople();
    const [ann] = server.users.values();
    const timeline = chat.openTimeline(thread.id);
    const path = `POST /v1/threads/${thread.id}/messages`;
    server.answerOnce(path, 202, { state: 'pending', edit: false });
    const pending = await chat.send(thread.id, { text: 'a link' });
    await until(timeline.view, ({ rows }) => rows[0]?.state === 'pending');
    await chat.send(thread.id, { text: 'next' });
    const view = await until(timeline.view, ({ rows }) => rows.length === 2 && rows[0].state === 'stored');
    assert.deepEqual(view.rows.map(({ state, message }) => [state, message.payload?.text]), [
        ['stored', 'next'],
        ['pending', 'a link'],
    ]);
    assert.equal(server.requests.filter((request) => request === path).length, 2);
    server.say(thread, ann, 'a link', { id: pending });
    const approved = await until(timeline.view, ({ rows }) => rows.every(({ state }) => state === 'stored'));
    assert.deepEqual(approved.rows.map(({ message }) => message.payload?.text), ['next', 'a link']);
    chat.close();
});

Deno.test('a final refusal fails its message only; a retry sends it last, a discard removes it', async () => {
    const { server, chat, thread } = await twoPeople();
    const timeline = chat.openTimeline(thread.id);
    const path = `POST /v1/threads/${thread.id}/messages`;
    server.refuseOnce(path, 422, 'invalid', { errors: [{ field: 'payload.text', detail: 'Must not be empty.' }] });
    server.refuseOnce(path, 403, 'not_reachable');
    const first = await chat.send(thread.id, { text: 'first' });
    const second = await chat.send(thread.id, { text: 'second' });
    await chat.send(thread.id, { text: 'third' });
    const view = await until(timeline.view, ({ rows }) => rows.length === 3 && rows[0].state === 'stored');
    assert.deepEqual(view.rows.map(({ state, problem }) => [state, problem?.code]), [
        ['stored', undefined],
        ['failed', 'invalid'],
        ['failed', 'not_reachable'],
    ]);
    await chat.retry(first);
    await chat.discard(second);
    await until(timeline.view, ({ rows }) => rows.length === 2 && rows.every(({ state }) => state === 'stored'));
    assert.deepEqual(thread.messages.map(({ payload }) => payload.text), ['third', 'first']);
    chat.close();
});

Deno.test('503 with Retry-After delays a message and repeats it', async () => {
    const { server, chat, thread } = await twoPeople();
    server.refuseOnce('POST /v1/threads', 503, 'overloaded', { retryAfter: 60 });
    const begin = Date.now();
    await chat.send(thread.id, { text: 'patient' });
    await eventually(() => thread.messages.length === 1);
    assert.ok(Date.now() - begin >= 2000 && Date.now() - begin <= 4000, String(Date.now() - begin));
    chat.close();
});

Deno.test('a message that is being sent can be cancelled', async () => {
    const { server, chat, thread } = await twoPeople({ delay: 300 });
    const timeline = chat.openTimeline(thread.id);
    server.isAway = true;
    const id = await chat.send(thread.id, { text: 'never' });
    await until(timeline.view, ({ rows }) => rows.length === 1);
    await chat.discard(id);
    await until(timeline.view, ({ rows }) => rows.length === 0);
    server.isAway = false;
    await chat.send(thread.id, { text: 'ever' });
    await eventually(() => thread.messages.length === 1);
    await pass(60_000);
    assert.deepEqual(thread.messages.map(({ payload }) => payload.text), ['ever']);
    chat.close();
});

Deno.test('a message whose answer is lost leaves the outbox with its event', async () => {
    const { server, chat, thread } = await twoPeople();
    const timeline = chat.openTimeline(thread.id);
    await until(chat.connection, (connection) => connection === 'connected');
    server.lostAnswersTo = 'POST /v1/threads';
    await chat.send(thread.id, { text: 'heard of' });
    await until(timeline.view, ({ rows }) => rows.length === 1 && rows[0].state === 'stored');
    await pass(60_000);
    assert.deepEqual(await chat.rows('outbox'), []);
    assert.equal(server.requests.filter((request) => request.startsWith('POST /v1/threads')).length, 1);
    chat.close();
});
