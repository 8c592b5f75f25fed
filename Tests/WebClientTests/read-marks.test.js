// Read marks: combined, kept until confirmed, and shown at once.

import assert from 'node:assert/strict';
import { pass } from './support/clock.js';
import { device, eventually, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

async function tenUnread() {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    const chat = await device(server, ann);
    for (let n = 1; n <= 10; n += 1) server.say(thread, ben, `text ${n}`);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 10);
    return { server, chat, thread, ann, ben };
}

/** @param {FakeServer} server */
function receipts({ requests }) {
    return requests.filter((request) => request.includes('receipts'));
}

Deno.test('marks of a second are one request, and the count falls before the answer', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    const other = server.addThread([...server.users.values()], { title: 'Other' });
    server.say(other, [...server.users.values()][1], 'hello');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 11);
    server.faults.delay = 50;
    for (let seq = 1; seq <= 7; seq += 1) chat.markRead(thread.id, seq);
    chat.markRead(other.id, 1);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 3);
    assert.deepEqual(receipts(server), []);
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 7 && other.parts.get(ann.id)?.read_seq === 1, 1);
    await pass(10_000);
    assert.deepEqual(receipts(server), ['POST /v1/receipts']);
    assert.equal(chat.inbox.value?.unreadTotal, 3);
    assert.deepEqual(await chat.rows('marks'), []);
    chat.close();
});

Deno.test('a mark as unread waits for a read mark that is under way', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    chat.markRead(thread.id, 10);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 0);
    // The read mark is in the store, and is sent within 400 ms.
    assert.deepEqual(receipts(server), []);
    await chat.markUnread(thread.id, 4);
    const order = server.requests.filter((request) => /receipts|unread/.test(request));
    assert.deepEqual(order, ['POST /v1/receipts', `PUT /v1/threads/${thread.id}/unread`]);
    assert.equal(thread.parts.get(ann.id)?.read_seq, 3);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 7);
    await pass(10_000);
    assert.equal(thread.parts.get(ann.id)?.read_seq, 3);
    assert.equal(chat.inbox.value?.unreadTotal, 7);
    chat.close();
});

Deno.test('a mark that was made offline is sent when the server is back', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    server.goAway();
    await until(chat.connection, (connection) => connection === 'offline');
    chat.markRead(thread.id, 4);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 6);
    server.isAway = false;
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 4);
    await until(chat.connection, (connection) => connection === 'connected');
    assert.equal(chat.inbox.value?.unreadTotal, 6);
    chat.close();
});

Deno.test('messages that arrive while a mark is on its way count as unread', async () => {
    const { server, chat, thread, ann, ben } = await tenUnread();
    server.refuseOnce('POST /v1/receipts', 503, 'overloaded', { retryAfter: 1 });
    chat.markRead(thread.id, 10);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 0);
    server.say(thread, ben, 'new');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
    await eventually(() => receipts(server).length === 2);
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 10);
    await pass(10_000);
    assert.equal(chat.inbox.value?.unreadTotal, 1);
    assert.equal(receipts(server).length, 2);
    chat.close();
});

Deno.test('a refused mark does not keep the others back', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    const gone = server.addThread([...server.users.values()], { title: 'Gone' });
    server.say(gone, [...server.users.values()][1], 'hello');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 11);
    server.threads.delete(gone.id);
    chat.markRead(gone.id, 1);
    chat.markRead(thread.id, 10);
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 10);
    await pass(10_000);
    assert.deepEqual(await chat.rows('marks'), []);
    // Both marks at once, and then each on its own.
    assert.equal(receipts(server).length, 3);
    chat.close();
});

Deno.test('a mark never moves back', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    chat.markRead(thread.id, 8);
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 8);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 2);
    chat.markRead(thread.id, 3);
    await pass(10_000);
    assert.equal(receipts(server).length, 1);
    assert.equal(chat.inbox.value?.unreadTotal, 2);
    chat.close();
});

Deno.test('a mark whose answer is lost goes with its event', async () => {
    const { server, chat, thread, ann } = await tenUnread();
    server.lostAnswersTo = 'POST /v1/receipts';
    chat.markRead(thread.id, 6);
    await eventually(() => thread.parts.get(ann.id)?.read_seq === 6);
    await pass(10_000);
    assert.deepEqual(await chat.rows('marks'), []);
    assert.equal(receipts(server).length, 1);
    assert.equal(chat.inbox.value?.unreadTotal, 4);
    chat.close();
});
