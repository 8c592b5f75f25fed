import assert from 'node:assert/strict';
import { findEmoji, group, inTone } from '../../Sources/WebClient/page/emoji/emoji.js';
import {
    continues,
    deliveryStatus,
    isExpired,
    rowWithStatus,
} from '../../Sources/WebClient/page/ui/conversation/status.js';
import { permissions } from '../../Sources/WebClient/page/ui/message/permissions.js';
import './support/clock.js';
import { messageOf } from './support/samples.js';

// Without a browser. dom.js has a class for elements.
// @ts-ignore: nothing is built.
globalThis.HTMLElement ??= class {};
const { averageColour, isPicture, variantShown } = await import(
    '../../Sources/WebClient/page/ui/conversation/attachments.js'
);
const { isEmojiOnly } = await import('../../Sources/WebClient/page/ui/conversation/body.js');

/** @typedef {import('../../Sources/WebClient/page/core/types.js').Row} Row */
/** @typedef {import('../../Sources/WebClient/page/core/types.js').Thread} Thread */
/** @typedef {import('../../Sources/WebClient/page/core/types.js').Member} Member */

const time = '2026-11-21T10:00:00.000Z';

/** @param {Partial<import('../../Sources/WebClient/page/core/types.js').Message>} [message] @param {Partial<Row>} [row] @returns {Row} */
function rowOf(message = {}, row = {}) {
    return {
        key: 'm',
        state: 'stored',
        files: [],
        message: messageOf({ seq: 5, payload: { text: 'hi' }, ...message }),
        ...row,
    };
}

/** @param {'direct' | 'group'} kind @param {'owner' | 'member'} [role] */
const threadOf = (kind, role = 'member') => /** @type {Thread} */ ({ kind, me: { status: 'joined', role } });
/** @param {number} read_seq @param {number} delivered_seq @param {'joined' | 'invited'} [status] @param {'bot'} [kind] */
const memberOf = (read_seq, delivered_seq, status = 'joined', kind) => /** @type {Member} */ ({
    user: { id: '', name: '', profile_image: null, kind },
    read_seq,
    delivered_seq,
    status,
});

Deno.test('the status of an own message follows the marks of the others', () => {
    const status = (/** @type {'direct' | 'group'} */ kind, /** @type {Member[]} */ ...others) => {
        const { key, count } = deliveryStatus(rowOf(), threadOf(kind), others);
        return `${key.replace('conversation.', '')} ${count}`;
    };
    assert.equal(status('direct', memberOf(4, 4)), 'sent 0');
    assert.equal(status('direct', memberOf(4, 5)), 'delivered 0');
    assert.equal(status('direct', memberOf(5, 5)), 'read 0');
    assert.equal(status('group', memberOf(5, 5), memberOf(0, 4)), 'readBy 1');
    assert.equal(status('group', memberOf(0, 5), memberOf(0, 4)), 'sent 0');
    assert.equal(status('group', memberOf(0, 5), memberOf(0, 9), memberOf(0, 0, 'invited')), 'delivered 0');
    assert.equal(status('group', memberOf(0, 5), memberOf(9, 9, 'joined', 'bot')), 'delivered 0');
    assert.equal(status('group', memberOf(0, 5), memberOf(0, 0, 'joined', 'bot')), 'delivered 0');
    assert.equal(status('group', memberOf(9, 9, 'joined', 'bot')), 'sent 0');
    assert.equal(status('group'), 'sent 0');
    assert.equal(deliveryStatus(rowOf({ seq: 0 }, { state: 'sending' }), null, []).key, 'conversation.sending');
});

Deno.test('the status is at the newest own message that is neither failed nor deleted', () => {
    const rows = [
        rowOf({ id: 'a' }),
        rowOf({ sender: { id: 'ben', name: 'Ben', profile_image: null } }),
        rowOf({ deleted_at: time }),
        rowOf({}, { state: 'failed' }),
    ];
    assert.equal(rowWithStatus(rows, 'ann'), rows[0]);
    assert.equal(rowWithStatus(rows, 'cleo'), undefined);
});

Deno.test('messages of one sender within five minutes of a day form a group', () => {
    const later = rowOf({ timestamp: '2026-11-21T10:04:59.000Z' });
    assert.ok(continues(rowOf(), later));
    assert.ok(!continues(rowOf(), rowOf({ timestamp: '2026-11-21T10:05:00.000Z' })));
    assert.ok(!continues(rowOf({ sender: null }), rowOf({ sender: null })));
    assert.ok(!continues(undefined, rowOf()));
    assert.ok(!continues(rowOf({ sender: { id: 'ben', name: 'Ann', profile_image: null } }), later));
});

Deno.test('what may be done with a message', () => {
    const may = (/** @type {Row} */ row, /** @type {Thread} */ thread, me = 'ann') =>
        Object.entries(permissions(row, thread, me)).filter(([, is]) => is).map(([action]) => action).join(' ');
    const all = 'reply react copy copyLink forward';
    assert.equal(may(rowOf(), threadOf('direct')), `${all} edit deleteForEveryone deleteForMe`);
    assert.equal(may(rowOf(), threadOf('direct', 'owner'), 'ben'), `${all} deleteForMe markUnread profile report`);
    assert.equal(
        may(rowOf(), threadOf('group', 'owner'), 'ben'),
        `${all} deleteForEveryone deleteForMe markUnread profile report`,
    );
    const known = rowOf({ reactions: { '👍': { count: 1 } }, edited_at: time });
    assert.equal(
        may(known, threadOf('direct')),
        `${all} edit deleteForEveryone deleteForMe reactors history`,
    );
    assert.equal(may(rowOf({ type: 'x-poll' }), threadOf('direct'), 'ben').includes('forward'), false);
    assert.equal(may(rowOf({ deleted_at: time, payload: null }), threadOf('group')), 'deleteForMe');
    assert.equal(may(rowOf({ type: 'system', sender: null, payload: {} }), threadOf('group')), 'deleteForMe');
    assert.equal(may(rowOf({}, { state: 'failed' }), threadOf('group')), 'copy cancelSending');
});

Deno.test('a few emoji and nothing else are shown large', () => {
    const is = (/** @type {string} */ text, more = {}) => isEmojiOnly(rowOf({ payload: { text }, ...more }).message);
    for (const text of ['🎉', '👍🏽 ❤️', '👩‍💻👩‍💻', '🇩🇪', ' 😂😂😂😂😂😂 ']) assert.ok(is(text), text);
    for (const text of ['', 'ok 👍', '7', '#', '©', '🇩', '😂😂😂😂😂😂😂', '🎉!']) assert.ok(!is(text), text);
    const groups = JSON.parse(Deno.readTextFileSync('Sources/WebClient/page/emoji/emoji.json'));
    for (const entry of Object.values(groups).flatMap((list) => list.split(' '))) {
        const known = { emoji: entry.replace('+', ''), hasTones: entry.endsWith('+'), name: '', words: '' };
        for (const tone of ['', '🏽']) assert.ok(is(inTone(known, tone)), inTone(known, tone));
    }
    assert.ok(!is('🎉', { type: 'x-poll' }));
});

Deno.test('a message whose time is over is expired', () => {
    const at = (/** @type {number} */ moment) => rowOf({ expires_at: new Date(moment).toISOString() }).message;
    assert.ok(isExpired(at(Date.now())));
    assert.ok(!isExpired(at(Date.now() + 1)));
    assert.ok(!isExpired(rowOf().message));
});

Deno.test('the colour of a picture is that of the reference implementation of ThumbHash', () => {
    // PyPI's fast_thumbhash returns 0.479, 0.495, 0.503; then 0.495, 0.479, 0.503; then 0.495, 0.669, 0.503.
    assert.equal(averageColour('3/cJpZqHh4iAiHeIiHiIiIB1CPh4'), 'rgb(48% 49% 50%)');
    assert.equal(averageColour('3wcKohqHgIiIh4iHgIUI+Hg='), 'rgb(49% 48% 50%)');
    assert.equal(averageColour('o6iFUYw3h4eAh36AtgnIO4eHgIeIeIg='), 'rgb(49% 67% 50%)');
    for (const wrong of ['', 'AAA', '%', 'red;']) assert.equal(averageColour(wrong), null);
});

Deno.test('emoji have a name in every language, and skin tones', () => {
    const read = (/** @type {string} */ name) =>
        JSON.parse(Deno.readTextFileSync(`Sources/WebClient/page/emoji/${name}.json`));
    const groups = read('emoji');
    for (const language of ['en', 'de', 'ar']) {
        const emoji = group(groups, read(language)).flatMap(({ members }) => members);
        assert.equal(emoji.length, read(language).length);
        assert.ok(emoji.every(({ name }) => name), language);
    }
    const english = group(groups, read('en'));
    const found = (/** @type {string} */ query) => findEmoji(english, query).map(({ emoji }) => emoji);
    assert.equal(found('thumbs up')[0], '👍');
    assert.ok(found('tada').includes('🎉'));
    assert.deepEqual(found('❤️'), ['❤️']);
    assert.deepEqual(found('no such emoji'), []);
    const of = (/** @type {string} */ emoji) => findEmoji(english, emoji)[0];
    assert.equal(inTone(of('👍'), '🏽'), '👍🏽');
    assert.equal(inTone(of('✌️'), '🏿'), '✌🏿');
    assert.equal(inTone(of('🧑‍⚕️'), '🏻'), '🧑🏻‍⚕️');
    assert.equal(inTone(of('😀'), '🏽'), '😀');
});

/** @param {string} type @param {number} [width] @param {number} [height] @param {boolean} [thumbnail] */
const file = (type, width, height, thumbnail) => ({ id: 'f', name: 'f', content_type: type, width, height, thumbnail });

Deno.test('what is drawn without a click has a thumbnail or few pixels', () => {
    assert.ok(isPicture(file('image/png', 7000, 7000, true)));
    assert.ok(isPicture(file('image/png', 1000, 1000, false)));
    // The server draws no thumbnail of a picture that takes too long, and there may be ten of them in a message.
    assert.ok(!isPicture(file('image/png', 7000, 7000, false)));
    assert.ok(!isPicture(file('image/png', 16_000, 63)));
    assert.ok(!isPicture(file('image/png', undefined, undefined, true)));
    assert.ok(!isPicture(file('image/svg+xml', 10, 10, true)));
});

Deno.test('small GIFs move in the log, larger ones where they are opened', () => {
    assert.equal(variantShown(file('image/gif', 498, 280, true)), 'original');
    assert.equal(variantShown(file('image/gif', 7000, 7000, true)), 'thumbnail');
    assert.equal(variantShown(file('image/png', 10, 10, true)), 'thumbnail');
    assert.equal(variantShown(file('image/png', 10, 10, false)), 'original');
});
