// What waits for the user, and what they are notified of.

import assert from 'node:assert/strict';
import { attention, isAlerting, isQuiet } from '../../Sources/WebClient/page/core/state/attention.js';
import { messageOf, partOf } from './support/samples.js';

/** @param {object} [me] @param {object} [more] @returns {any} */
function thread(me, more) {
    return { id: 'thread', unread_count: 3, mention_count: 1, me: { ...partOf(2), ...me }, ...more };
}

const now = Date.parse('2026-11-21T10:00:00.000Z');
const later = '9999-12-31T00:00:00.000Z';

Deno.test('muted conversations do not count, mentions alone do, an invitation counts once', () => {
    assert.equal(attention([thread(), thread()]), 6);
    assert.equal(attention([thread({ muted_until: later })]), 0);
    assert.equal(attention([thread({ notify: 'mentions' }), thread({ notify: 'none' })]), 1);
    assert.equal(attention([thread({ status: 'invited' }, { unread_count: 0 })]), 1);
    assert.equal(attention([thread({ muted_until: '2020-01-01T00:00:00.000Z' }), thread({ archived: true })]), 6);
});

Deno.test('a message alerts by the level of its conversation', () => {
    const message = messageOf({ seq: 3, sender: { id: 'ben', name: 'Ben', profile_image: null } });
    const mention = { ...message, mentions: ['ann'] };
    const is = (/** @type {object} */ me, /** @type {any} */ of = message) => isAlerting(thread(me), of, 'ann', now);
    assert.ok(is({}));
    assert.ok(!is({ notify: 'none' }, mention));
    assert.ok(!is({ notify: 'mentions' }));
    assert.ok(is({ notify: 'mentions' }, mention));
    assert.ok(!is({ muted_until: later }, mention));
    assert.ok(!is({ status: 'invited' }));
    assert.ok(!is({}, { ...message, type: 'system' }));
    assert.ok(!is({}, { ...message, sender: null }));
    // Read on another device, and one's own.
    assert.ok(!is({ read_seq: 3 }));
    assert.ok(!isAlerting(thread(), message, 'ben', now));
});

Deno.test('hours without notifications may go over midnight', () => {
    const night = { from: '22:00', to: '07:00' };
    assert.deepEqual(['21:59', '22:00', '23:30', '06:59', '07:00'].map((time) => isQuiet(night, time)), [
        false,
        true,
        true,
        true,
        false,
    ]);
    assert.ok(isQuiet({ from: '12:00', to: '13:00' }, '12:30'));
    assert.ok(!isQuiet({ from: '12:00', to: '13:00' }, '13:00'));
    assert.ok(!isQuiet({ from: '12:00', to: '12:00' }, '12:00'));
    assert.ok(!isQuiet(null, '12:00'));
});
