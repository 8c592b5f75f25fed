// What only the browser has: drafts with their files, reactions without a connection, a session that is still to be ended.

import assert from 'node:assert/strict';
import { Chat } from '../../Sources/WebClient/page/core/chat.js';
import { MemoryStore } from '../../Sources/WebClient/page/core/store/memory-store.js';
import { device, eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

async function onePerson() {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben], { kind: 'direct' });
    const chat = await device(server, ann);
    await until(chat.inbox, ({ threads }) => threads.length === 1);
    return { server, chat, thread, ann, ben };
}

Deno.test('the service is known before the sign-in, and its last answer holds while it is away', async () => {
    const server = new FakeServer();
    server.goAway();
    const store = new MemoryStore();
    const open = async () => {
        const chat = new Chat({ fetch: server.fetch, openStore: () => Promise.resolve(store) });
        await chat.start();
        return chat;
    };
    const first = await open();
    assert.equal(first.service.value, undefined);
    server.isAway = false;
    await until(first.service, ({ name, mail }) => name === 'Beans' && !mail);
    await eventually(async () => await store.read(['meta'], (tx) => tx.get('meta', 'service')) !== undefined);
    first.close();
    server.goAway();
    const second = await open();
    await until(second.service, ({ name }) => name === 'Beans');
    second.close();
});

Deno.test('a draft keeps its files until the message is sent', async () => {
    const { chat, thread } = await onePerson();
    const files = ['one.txt', 'two.txt'].map((name) => ({ id: crypto.randomUUID(), file: new File([name], name) }));
    await chat.setDraftFiles(thread.id, files);
    chat.setDraft(thread.id, { text: 'look', replyTo: null });
    await until(chat.draft(thread.id), ({ text, fileIDs }) => text === 'look' && fileIDs.length === 2);
    assert.deepEqual((await chat.draftFiles(thread.id)).map(({ file }) => file.name), ['one.txt', 'two.txt']);
    await chat.setDraftFiles(thread.id, files.slice(1));
    assert.deepEqual((await chat.rows('files')).map(({ id }) => id), [files[1].id]);
    assert.deepEqual(await chat.unsent(), { messages: 0, drafts: 1 });
    // A text that is emptied leaves the files.
    chat.setDraft(thread.id, { text: '', replyTo: null });
    await until(chat.draft(thread.id), ({ text, fileIDs }) => text === '' && fileIDs.length === 1);
    await chat.setDraftFiles(thread.id, []);
    assert.deepEqual([await chat.rows('drafts'), await chat.rows('files')], [[], []]);
    chat.close();
});

Deno.test('a sent message takes its draft with the files away', async () => {
    const { chat, server, thread } = await onePerson();
    const entry = { id: crypto.randomUUID(), file: new File(['x'], 'one.txt') };
    await chat.setDraftFiles(thread.id, [entry]);
    chat.setDraft(thread.id, { text: 'look', replyTo: null });
    server.goAway();
    await chat.send(thread.id, { text: 'look', files: [entry.file] });
    assert.deepEqual(await chat.rows('drafts'), []);
    assert.deepEqual((await chat.rows('files')).map(({ name }) => name), ['one.txt']);
    assert.deepEqual(await chat.unsent(), { messages: 1, drafts: 0 });
    chat.close();
});

Deno.test('signing out without a connection ends the session at the server later', async () => {
    const { chat, server } = await onePerson();
    server.goAway();
    const ending = chat.signOut();
    await until(chat.session, (session) => session === null);
    await ending;
    assert.equal(chat.endedBy, 'user');
    assert.deepEqual((await chat.rows('meta')).map(({ key }) => key), ['ended']);
    assert.equal(server.sessions.size, 1);
    server.isAway = false;
    await eventually(() => server.sessions.size === 0);
    await eventually(async () => (await chat.rows('meta')).length === 0);
    chat.close();
});

Deno.test('a session that the server ends says so', async () => {
    const { chat, server } = await onePerson();
    assert.equal(chat.endedBy, null);
    server.endSession(chat.session.value?.token ?? '');
    await until(chat.session, (session) => session === null);
    assert.equal(chat.endedBy, 'server');
    chat.close();
});

Deno.test('reactions without a connection are shown at once and sent later, the last choice alone', async () => {
    const { chat, server, thread, ben } = await onePerson();
    const message = server.say(thread, ben, 'hello');
    const timeline = chat.openTimeline(thread.id);
    await until(timeline.view, ({ rows }) => rows.length === 1);
    const shown = () => timeline.view.value?.rows[0].message.reactions ?? {};
    server.goAway();
    await until(chat.connection, (connection) => connection === 'offline');
    await chat.react(message, '👍', true);
    await until(timeline.view, () => shown()['👍']?.count === 1 && shown()['👍'].me === true);
    await chat.react(message, '👍', false);
    await until(timeline.view, () => shown()['👍'] === undefined);
    await chat.react(message, '👍', true);
    await until(timeline.view, () => shown()['👍']?.count === 1);
    server.isAway = false;
    await eventually(() => message.reactions['👍']?.count === 1);
    await eventually(async () => (await chat.rows('reactions')).length === 0);
    assert.deepEqual(shown(), { '👍': { count: 1, me: true } });
    assert.equal(server.requests.filter((request) => request.includes('/reactions/')).length, 1);
    chat.close();
});

Deno.test('a reaction that the server refuses for good is taken back', async () => {
    const { chat, server, thread, ben } = await onePerson();
    const message = server.say(thread, ben, 'hello');
    const timeline = chat.openTimeline(thread.id);
    await until(timeline.view, ({ rows }) => rows.length === 1);
    /** @type {unknown[]} */
    const failures = [];
    chat.onfailure = (error) => failures.push(error);
    server.goAway();
    await chat.react(message, '👍', true);
    server.refuseOnce(`PUT /v1/threads/${thread.id}/messages`, 409, 'message_deleted');
    server.isAway = false;
    await eventually(() => failures.length === 1);
    await until(timeline.view, ({ rows }) => Object.keys(rows[0].message.reactions).length === 0);
    assert.deepEqual(await chat.rows('reactions'), []);
    chat.close();
});

Deno.test("without a connection nobody's presence is known", async () => {
    const { chat, server, ben } = await onePerson();
    const presence = chat.presence(ben.id);
    await until(presence, ({ presence }) => presence === 'online');
    server.goAway();
    await until(presence, ({ presence }) => presence === null);
    server.isAway = false;
    await until(presence, ({ presence }) => presence === 'online');
    chat.close();
});

Deno.test('what is stored can be searched: all words, by their beginnings, marked and escaped', async () => {
    const { chat, server, thread, ben } = await onePerson();
    server.say(thread, ben, 'Grüne Bohnen & <b>Erbsen</b>');
    server.say(thread, ben, 'Bohnen');
    const timeline = chat.openTimeline(thread.id);
    const view = await until(timeline.view, ({ rows }) => rows.length === 2);
    assert.deepEqual(texts(view).length, 2);
    const found = await chat.searchStored('bohn grune');
    assert.deepEqual(found.map(({ excerpt }) => excerpt), [
        '<mark>Grüne</mark> <mark>Bohnen</mark> &amp; &lt;b&gt;Erbsen&lt;/b&gt;',
    ]);
    assert.deepEqual((await chat.searchStored('BOHNEN')).map(({ message }) => message.seq), [2, 1]);
    assert.deepEqual(await chat.searchStored('BOHNEN', crypto.randomUUID()), []);
    assert.deepEqual(await chat.searchStored('…'), []);
    chat.close();
});
