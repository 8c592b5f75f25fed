// The window over a thread.

import assert from 'node:assert/strict';
import { pass } from './support/clock.js';
import { device, eventually, texts, until } from './support/devices.js';
import { FakeServer } from './support/fake-server.js';

/** @param {number} read @param {number} unread */
async function longThread(read, unread) {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    for (let n = 1; n <= read; n += 1) server.say(thread, ben, `text ${n}`);
    if (read > 0) Object.assign(thread.parts.get(ann.id) ?? {}, { read_seq: read, unread: 0 });
    for (let n = read + 1; n <= read + unread; n += 1) server.say(thread, ben, `text ${n}`);
    const chat = await device(server, ann);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === unread);
    const timeline = chat.openTimeline(thread.id);
    const view = await until(timeline.view, ({ isLoading }) => !isLoading);
    return { server, chat, thread, timeline, view, ann, ben };
}

/** @param {import('../../Sources/WebClient/page/core/types.js').TimelineView | undefined} view */
function span(view) {
    const seqs = view?.rows.filter(({ state }) => state === 'stored').map(({ message }) => message.seq) ?? [];
    assert.deepEqual(seqs, seqs.map((_, place) => seqs[0] + place), 'dense');
    return [seqs[0], seqs.at(-1)];
}

Deno.test('with nothing unread it opens at the newest message', async () => {
    const { chat, view } = await longThread(500, 0);
    assert.deepEqual(span(view), [451, 500]);
    assert.equal(view.firstUnread, null);
    assert.equal(view.atEnd, true);
    assert.equal(view.atStart, false);
    chat.close();
});

Deno.test('it opens at the first unread message, with rows on both sides', async () => {
    const { chat, view } = await longThread(300, 200);
    assert.equal(view.firstUnread, 301);
    assert.deepEqual(span(view), [252, 351]);
    assert.equal(view.atEnd, false);
    chat.close();
});

Deno.test('pages above and below come in order, at most 200 rows, to the very ends', async () => {
    const { chat, timeline, view } = await longThread(300, 200);
    for (let pages = 0; !timeline.view.value?.atStart; pages += 1) {
        assert.ok(pages < 10);
        await timeline.loadOlder();
        assert.ok((timeline.view.value?.rows.length ?? 0) <= 200);
    }
    assert.deepEqual(span(timeline.view.value), [1, 200]);
    for (let pages = 0; !timeline.view.value?.atEnd; pages += 1) {
        assert.ok(pages < 10);
        await timeline.loadNewer();
        assert.ok((timeline.view.value?.rows.length ?? 0) <= 200);
    }
    assert.deepEqual(span(timeline.view.value), [301, 500]);
    assert.equal(timeline.view.value?.firstUnread, view.firstUnread);
    chat.close();
});

Deno.test('scrolled up, new messages change nothing but atEnd', async () => {
    const { server, chat, timeline, thread, ben } = await longThread(500, 0);
    await timeline.goTo({ seq: 100 });
    const before = span(timeline.view.value);
    server.say(thread, ben, 'new');
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 1);
    assert.deepEqual(span(timeline.view.value), before);
    assert.equal(timeline.view.value?.atEnd, false);
    await timeline.goTo('newest');
    assert.equal(texts(await until(timeline.view, ({ atEnd }) => atEnd)).at(-1), 'new');
    chat.close();
});

Deno.test('at the newest, messages come in and old rows drop out', async () => {
    const { server, chat, timeline, thread, ben } = await longThread(500, 0);
    for (let pages = 0; pages < 3; pages += 1) await timeline.loadOlder();
    await timeline.goTo('newest');
    for (let n = 501; n <= 700; n += 1) server.say(thread, ben, `text ${n}`);
    await until(timeline.view, (view) => span(view)[1] === 700);
    await eventually(() => timeline.view.value?.rows.length === 200);
    assert.deepEqual(span(timeline.view.value), [501, 700]);
    chat.close();
});

Deno.test('goes to a message by its id, stored or not', async () => {
    const { chat, timeline, thread } = await longThread(500, 0);
    await timeline.goTo({ id: thread.messages[41].id });
    assert.ok(timeline.view.value?.rows.some(({ message }) => message.seq === 42));
    await assert.rejects(timeline.goTo({ id: crypto.randomUUID() }), { status: 404 });
    chat.close();
});

Deno.test('instead of a message that does not exist, a timeline opens at the first unread message', async () => {
    const { chat, thread } = await longThread(300, 200);
    const timeline = chat.openTimeline(thread.id);
    await assert.rejects(timeline.goTo({ id: crypto.randomUUID() }), { status: 404 });
    assert.equal(timeline.view.value?.firstUnread, 301);
    assert.deepEqual(span(timeline.view.value), [252, 351]);
    chat.close();
});

Deno.test('instead of a message that is not stored, a timeline shows the newest stored messages offline', async () => {
    const { server, chat, thread } = await longThread(120, 0);
    server.goAway();
    const timeline = chat.openTimeline(thread.id);
    await assert.rejects(timeline.goTo({ id: crypto.randomUUID() }), { status: 0 });
    assert.deepEqual(span(timeline.view.value), [71, 120]);
    chat.close();
});

Deno.test('what was read once is there offline', async () => {
    const { server, chat, timeline, thread } = await longThread(120, 0);
    await timeline.loadOlder();
    timeline.close();
    server.goAway();
    await until(chat.connection, (connection) => connection === 'offline');
    const again = chat.openTimeline(thread.id);
    await until(again.view, ({ isLoading, rows }) => !isLoading && rows.length > 0);
    await again.loadOlder();
    assert.deepEqual(span(again.view.value), [21, 120]);
    await assert.rejects(again.loadOlder(), { status: 0 });
    assert.equal(again.view.value?.isLoading, false);
    server.isAway = false;
    await until(chat.connection, (connection) => connection === 'connected');
    await again.loadOlder();
    assert.deepEqual(span(again.view.value), [1, 120]);
    assert.equal(again.view.value?.atStart, true);
    chat.close();
});

Deno.test('rows that did not change are the same objects', async () => {
    const { server, chat, timeline, thread, ben, view } = await longThread(60, 0);
    server.say(thread, ben, 'new');
    const next = await until(timeline.view, ({ rows }) => rows.length > view.rows.length);
    for (const [place, row] of view.rows.entries()) assert.equal(next.rows[place], row);
    chat.close();
});

Deno.test('an empty thread is at both ends', async () => {
    const { chat, view } = await longThread(0, 0);
    assert.deepEqual(view.rows, []);
    assert.equal(view.atStart && view.atEnd, true);
    chat.close();
});

Deno.test('a thread that arrives after its timeline was opened opens at its first unread message', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    for (let n = 1; n <= 500; n += 1) server.say(thread, ben, `text ${n}`);
    server.faults.delay = 20;
    const chat = await device(server, ann);
    const timeline = chat.openTimeline(thread.id);
    const view = await until(timeline.view, ({ isLoading }) => !isLoading);
    assert.equal(view.firstUnread, 1);
    assert.deepEqual(span(view), [1, 51]);
    chat.close();
});

Deno.test('a message of a thread that has not arrived is shown with its neighbours, and not with all later ones', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const ben = server.addUser('Ben');
    const thread = server.addThread([ann, ben]);
    for (let n = 1; n <= 500; n += 1) server.say(thread, ben, `text ${n}`);
    const release = server.holdAnswer('GET /v1/inbox');
    const chat = await device(server, ann);
    const timeline = chat.openTimeline(thread.id);
    const moving = timeline.goTo({ id: thread.messages[99].id });
    await pass(1000);
    release();
    await moving;
    await pass(1000);
    assert.deepEqual(span(timeline.view.value), [51, 150]);
    assert.equal(timeline.view.value?.atEnd, false);
    chat.close();
});

Deno.test('going to a message of a thread that does not arrive ends with its timeline', async () => {
    const server = new FakeServer();
    const ann = server.addUser('Ann');
    const thread = server.addThread([ann]);
    server.say(thread, ann, 'hello');
    server.holdAnswer('GET /v1/inbox');
    const chat = await device(server, ann);
    const timeline = chat.openTimeline(thread.id);
    const moving = timeline.goTo({ id: thread.messages[0].id });
    await pass(1000);
    timeline.close();
    await moving;
    chat.close();
});

Deno.test('going to a message while the timeline opens wins', async () => {
    const { chat, thread } = await longThread(500, 0);
    const timeline = chat.openTimeline(thread.id);
    await timeline.goTo({ id: thread.messages[99].id });
    await pass(1000);
    assert.deepEqual(span(timeline.view.value), [51, 150]);
    chat.close();
});

Deno.test('of two calls before anything is shown, the last one shows its window and follows it', async () => {
    const { chat, thread } = await longThread(500, 0);
    const timeline = chat.openTimeline(thread.id);
    await Promise.all([timeline.goTo({ seq: 100 }), timeline.goTo('newest')]);
    assert.deepEqual(span(timeline.view.value), [451, 500]);
    await chat.send(thread.id, { text: 'hello' });
    await until(timeline.view, (view) => texts(view).at(-1) === 'hello', 5);
    chat.close();
});

Deno.test('the last of two calls decides where the window is', async () => {
    const { server, chat, thread, timeline } = await longThread(500, 0);
    const { id } = thread.messages[41];
    const path = `GET /v1/threads/${thread.id}/messages/${id}`;
    const release = server.holdAnswer(path);
    const first = timeline.goTo({ id });
    await eventually(() => server.requests.at(-1) === path);
    await timeline.goTo('newest');
    release();
    await first;
    assert.deepEqual(span(timeline.view.value), [451, 500]);
    chat.close();
});

Deno.test('going to a message while a page above loads wins', async () => {
    const { server, chat, thread, timeline } = await longThread(500, 0);
    server.faults.delay = 50;
    const older = timeline.loadOlder();
    await timeline.goTo({ id: thread.messages[99].id });
    await older;
    assert.deepEqual(span(timeline.view.value), [51, 150]);
    chat.close();
});

Deno.test('while the first unread messages are on their way, no later ones are shown', async () => {
    const { server, thread, chat: first, ann } = await longThread(100, 100);
    first.close();
    const chat = await device(server, ann);
    await until(chat.inbox, ({ unreadTotal }) => unreadTotal === 100);
    server.faults.delay = 50;
    const timeline = /** @type {any} */ (chat.openTimeline(thread.id));
    /** @type {(number | undefined)[][]} */
    const shown = [];
    const end = timeline.view.subscribe((/** @type {any} */ { rows, firstUnread }) =>
        shown.push([rows[0]?.message.seq, firstUnread])
    );
    // What is shown again at each change of the store, such as a mark of another person.
    for (let n = 0; n < 10; n += 1) {
        timeline.changed();
        await pass(5);
    }
    await until(timeline.view, ({ isLoading }) => !isLoading);
    assert.deepEqual(shown.filter(([top]) => top !== 52), []);
    assert.deepEqual(shown.filter(([, unread]) => unread !== 101), []);
    end();
    chat.close();
});
