// Searches: what their parts mean, which messages they find, and how they continue page by page.

import assert from 'node:assert/strict';
import { isEmpty, matches, parseQuery, Search, startOfDay } from '../../Sources/WebClient/page/core/search.js';
import { matchesWords } from '../../Sources/WebClient/page/text/match.js';
import { isAlmost } from '../../Sources/WebClient/page/text/typos.js';

/** @typedef {import('../../Sources/WebClient/page/core/types.js').Message} Message */

/** @param {Partial<Message>} [parts] @returns {Message} */
function message(parts = {}) {
    return {
        id: 'a',
        thread_id: 't',
        seq: 1,
        timestamp: new Date(2026, 10, 5, 12).toISOString(),
        type: 'message',
        sender: { id: 'ben', name: 'Ben Okafor', username: 'bokafor', profile_image: null },
        payload: { text: 'beans' },
        reply_to: null,
        mentions: [],
        reactions: {},
        edited_at: null,
        deleted_at: null,
        expires_at: null,
        ...parts,
    };
}

Deno.test('operators are taken out of the words', () => {
    const query = parseQuery(
        'beans from:ben in:"Roof garden" peas before:2026-11-05 after:2026-10-01 has:link has:file',
    );
    assert.deepEqual(query, {
        words: 'beans peas',
        from: ['ben'],
        in: 'Roof garden',
        before: '2026-11-05',
        after: '2026-10-01',
        has: ['link', 'file'],
        unknown: [],
    });
    assert.deepEqual(parseQuery('von:@bokafor hat', { von: 'from' }).from, ['bokafor']);
    // What is no operator is a word, such as the time of day.
    assert.equal(parseQuery('at 10:30 https://example.org').words, 'at 10:30 https://example.org');
    assert.deepEqual(parseQuery('before:soon has:hope').unknown, ['before:soon', 'has:hope']);
    assert.ok(isEmpty(parseQuery('in:garden')));
    assert.ok(!isEmpty(parseQuery('from:ben')));
});

Deno.test('a day is a day of the calendar here', () => {
    assert.equal(startOfDay('2026-11-05'), new Date(2026, 10, 5).getTime());
    for (const wrong of ['2026-02-30', '2026-13-01', '5.11.2026', '']) assert.equal(startOfDay(wrong), null, wrong);
});

Deno.test('a message is found by sender, day and what it has', () => {
    const finds = (/** @type {string} */ text, /** @type {Partial<Message>} */ parts = {}) =>
        matches(message(parts), parseQuery(text));
    assert.ok(finds('from:oka'));
    assert.ok(finds('from:bokaf'));
    assert.ok(finds('from:"ben okafor"'));
    assert.ok(!finds('from:ann'));
    assert.ok(finds('before:2026-11-06 after:2026-11-05'));
    assert.ok(!finds('before:2026-11-05'));
    assert.ok(!finds('after:2026-11-06'));
    assert.ok(!finds('has:file'));
    assert.ok(finds('has:link', { payload: { text: 'see https://example.org' } }));
    const picture = { payload: { attachments: [{ id: 'f', content_type: 'image/png' }] } };
    assert.ok(finds('has:file has:picture', picture));
    assert.ok(!finds('has:picture', { payload: { attachments: [{ id: 'f', content_type: 'text/plain' }] } }));
    assert.ok(!finds('from:ben', { deleted_at: '2026-11-05T12:00:00.000Z', payload: null }));
});

/** A chat whose server has messages, newest first, in pages.
 * @param {Message[]} messages */
function chatWith(messages) {
    /** @type {any[]} */
    const requests = [];
    const get = (/** @type {string} */ path, /** @type {any} */ query) => {
        requests.push([path, query]);
        if (path === '/v1/search') {
            const from = Number(query.page ?? 0);
            const page = messages.slice(from, from + query.limit);
            const next = from + query.limit < messages.length ? String(from + query.limit) : null;
            return Promise.resolve({ results: page.map((message) => ({ message, snippet: '<mark>x</mark>' })), next });
        }
        const below = messages.filter(({ seq }) => seq < Number(query.before ?? Infinity)).slice(0, query.limit);
        return Promise.resolve({ messages: below.reverse() });
    };
    return { chat: /** @type {any} */ ({ http: { get } }), requests };
}

/** Messages with seqs down to 1, each a minute older; every tenth is Ann's. @param {number} count */
function history(count) {
    const ann = { id: 'ann', name: 'Ann', profile_image: null };
    return Array.from({ length: count }, (_, index) => {
        const seq = count - index;
        const timestamp = new Date(Date.UTC(2026, 10, 5) + seq * 60_000).toISOString();
        return message({ id: `m${seq}`, seq, timestamp, ...(seq % 10 === 0 ? { sender: ann } : {}) });
    });
}

Deno.test('a search continues until enough is found, and skips nothing', async () => {
    const { chat } = chatWith(history(500));
    const search = new Search(chat, parseQuery('x from:ann'), null);
    const found = [];
    while (!search.isAtEnd) found.push(...await search.next(12));
    assert.deepEqual(
        found.map(({ message }) => message.seq),
        Array.from({ length: 50 }, (_, index) => 500 - 10 * index),
    );
    assert.equal(found[0].excerpt, '<mark>x</mark>');
});

Deno.test('without words, a conversation is read backwards', async () => {
    const { chat, requests } = chatWith(history(450));
    const search = new Search(chat, parseQuery('from:ann'), 't');
    assert.ok(!search.needsWords);
    const found = [];
    while (!search.isAtEnd) found.push(...await search.next(30));
    assert.equal(found.length, 45);
    assert.ok(requests.every(([path]) => path === '/v1/threads/t/messages'));
    assert.ok(new Search(chat, parseQuery('from:ann'), null).needsWords);
});

Deno.test('a search in vain ends after some requests and says how far it came', async () => {
    const { chat, requests } = chatWith(history(5000));
    const search = new Search(chat, parseQuery('x from:nobody'), 't');
    assert.deepEqual(await search.next(30), []);
    assert.equal(requests.length, 8);
    assert.ok(!search.isAtEnd);
    assert.equal(search.until, history(5000)[399].timestamp);
});

Deno.test('a search ends at the day after which it looks', async () => {
    const { chat, requests } = chatWith(history(5000));
    const search = new Search(chat, parseQuery('x after:2026-11-08'), 't');
    const found = [];
    while (!search.isAtEnd) found.push(...await search.next(30));
    assert.ok(found.length > 0 && found.length < 1000, String(found.length));
    assert.ok(requests.length < 20, String(requests.length));
});

Deno.test('titles are compared by the beginnings of their words, without case and accents', () => {
    assert.ok(matchesWords('Café am Markt', 'cafe MA'));
    assert.ok(matchesWords('Ben Okafor', ''));
    assert.ok(!matchesWords('Ben Okafor', 'kafor'));
});

Deno.test('a title with a typing mistake is almost the other one', () => {
    assert.ok(isAlmost('Kitchen', 'kitcen'));
    assert.ok(isAlmost('Bicycle repair', 'Bycicle repair'));
    for (const [one, other] of [['Kitchen', 'kitchen'], ['Room 1', 'Room 2'], ['Chess', 'Choir'], ['tea', 'pea pod']]) {
        assert.ok(!isAlmost(one, other), `${one}, ${other}`);
    }
});
