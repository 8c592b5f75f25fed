// Uploads that break off, and the message after them.

import assert from 'node:assert/strict';
import { pass } from './support/clock.js';
import { device, eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

async function onePerson() {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const thread = server.addThread([ann, server.addUser('Ben')]);
    const chat = await device(server, ann);
    await until(chat.inbox, ({ threads }) => threads.length === 1);
    return { server, chat, thread };
}

/** @param {number} size @param {string} name */
function file(size, name) {
    const bytes = new Uint8Array(size);
    for (let place = 0; place < size; place += 1) bytes[place] = place * 31 % 251;
    return { bytes, file: new File([bytes], name, { type: 'image/png' }) };
}

Deno.test('a file that breaks off three times continues where it stopped, and the message follows', async () => {
    const { server, chat, thread } = await onePerson();
    const { bytes, file: photo } = file(2_000_000, 'photo.png');
    server.cuts = [100, 300_000, 1_999_999];
    server.checks = 1;
    const timeline = chat.openTimeline(thread.id);
    await chat.send(thread.id, { text: 'look', files: [photo] });
    await chat.send(thread.id, { text: 'and so on' });
    /** @type {Set<number>} */
    const progress = new Set();
    const end = timeline.view.subscribe(({ rows }) => rows[0]?.files.forEach(({ sent }) => progress.add(sent)));
    await eventually(() => thread.messages.length === 2);
    end();
    assert.deepEqual(thread.messages.map(({ payload }) => payload.text), ['look', 'and so on']);
    const [{ id }] = thread.messages[0].payload.attachments;
    assert.deepEqual(server.uploads.get(id)?.bytes, bytes);
    assert.equal(server.uploads.get(id)?.name, 'photo.png');
    assert.ok(progress.size >= 4, String([...progress]));
    const resumed = server.requests.filter((request) => request.startsWith('HEAD'));
    assert.equal(resumed.length, 3);
    await until(timeline.view, ({ rows }) => rows.length === 2 && rows[0].state === 'stored');
    assert.deepEqual(await chat.rows('files'), []);
    chat.close();
});

Deno.test('files of any size arrive whole', async () => {
    const { server, chat, thread } = await onePerson();
    for (const size of [0, 1, 262_143, 262_144, 262_145, 600_000]) {
        const { bytes, file: some } = file(size, `${size}.bin`);
        const count = thread.messages.length;
        await chat.send(thread.id, { text: '', files: [some] });
        await eventually(() => thread.messages.length > count);
        const [{ id }] = thread.messages[count].payload.attachments;
        assert.deepEqual(server.uploads.get(id)?.bytes, bytes);
    }
    chat.close();
});

Deno.test('a random network delivers the file and the message once', async () => {
    const { server, chat, thread } = await onePerson();
    Object.assign(server.faults, { lostRequests: 0.1, lostAnswers: 0.15, delay: 3 });
    const { bytes, file: photo } = file(900_000, 'photo.png');
    await chat.send(thread.id, { text: 'look', files: [photo] });
    await eventually(() => thread.messages.length === 1);
    const [{ id }] = thread.messages[0].payload.attachments;
    assert.deepEqual(server.uploads.get(id)?.bytes, bytes);
    chat.close();
});

Deno.test('a file that is too large fails its message only', async () => {
    const { server, chat, thread } = await onePerson();
    const timeline = chat.openTimeline(thread.id);
    server.refuseOnce('PUT /v1/attachments', 413, 'attachment_too_large', { detail: 'The file is too large.' });
    await chat.send(thread.id, { text: 'look', files: [file(1000, 'photo.png').file] });
    await chat.send(thread.id, { text: 'next' });
    const view = await until(timeline.view, ({ rows }) => rows.length === 2 && rows[0].state === 'stored');
    assert.deepEqual(texts(view), ['next', 'look']);
    assert.equal(view.rows[1].state, 'failed');
    assert.equal(view.rows[1].problem?.code, 'attachment_too_large');
    chat.close();
});

Deno.test('an upload that is cancelled sends nothing more', async () => {
    const { server, chat, thread } = await onePerson();
    server.faults.delay = 50;
    const id = await chat.send(thread.id, { text: 'look', files: [file(5_000_000, 'film.bin').file] });
    await eventually(() => server.requests.some((request) => request.startsWith('PATCH')));
    await chat.discard(id);
    await chat.send(thread.id, { text: 'next' });
    await eventually(() => thread.messages.length === 1);
    await pass(60_000);
    const uploaded = [...server.uploads.values()];
    assert.equal(thread.messages[0].payload.text, 'next');
    assert.ok(uploaded.every(({ isComplete }) => !isComplete));
    assert.deepEqual(await chat.rows('files'), []);
    chat.close();
});
