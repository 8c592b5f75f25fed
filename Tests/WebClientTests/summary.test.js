// A message in one line, and the words of system messages.

import assert from 'node:assert/strict';
import { loadLanguage } from '../../Sources/WebClient/page/language/index.js';
import { summary, systemText, typingText } from '../../Sources/WebClient/page/ui/parts/summary.js';
import { messageOf } from './support/samples.js';

const ann = { id: 'a', name: 'Ann', profile_image: null };
const ben = { id: 'b', name: 'Ben', profile_image: null };

await loadLanguage(['en']);

/** @param {Partial<import('../../Sources/WebClient/page/core/types.js').Message>} values */
const message = (values) => messageOf({ sender: ann, ...values });

/** @param {string} type @param {string} name */
const file = (type, name) => ({ id: name, name, content_type: type });

Deno.test('a text is on one line', () => {
    assert.equal(summary(message({ payload: { text: ' one\n\n  two ' } }), 'a'), 'one two');
});

Deno.test('files without a text are named or counted', () => {
    const picture = file('image/png', 'x.png');
    const report = file('application/pdf', 'report.pdf');
    const of = (/** @type {(typeof picture)[]} */ ...attachments) =>
        summary(message({ payload: { attachments } }), 'a');
    assert.equal(of(picture), 'Picture');
    assert.equal(of(picture, picture), '2 pictures');
    assert.equal(of(report), 'report.pdf');
    assert.equal(of(report, picture), '2 files');
});

Deno.test('what has no text says what it is', () => {
    assert.equal(summary(message({ deleted_at: '2026-11-23T10:00:00.000Z', payload: null }), 'a'), 'Message deleted');
    assert.equal(summary(message({ payload: null }), 'a'), 'This message is no longer stored.');
    assert.equal(summary(message({ type: 'encrypted', payload: { ciphertext: 'x' } }), 'a'), 'Encrypted message');
    assert.equal(summary(message({ type: 'location', payload: { latitude: 1, longitude: 2 } }), 'a'), 'Location');
    assert.equal(summary(message({ type: 'x-poll', payload: {} }), 'a'), 'Message');
});

Deno.test('a system message names who did what to whom', () => {
    const said = (/** @type {Record<string, unknown>} */ payload, /** @type {string} */ reader) =>
        systemText(message({ type: 'system', sender: null, payload }), reader);
    assert.equal(said({ action: 'added', by: ann, user: ben }, 'c'), 'Ann added Ben');
    assert.equal(said({ action: 'added', by: ann, user: ben }, 'a'), 'You added Ben');
    assert.equal(said({ action: 'added', by: ann, user: ben }, 'b'), 'Ann added you');
    assert.equal(said({ action: 'joined', by: ben, user: ben }, 'b'), 'You joined');
    assert.equal(said({ action: 'left', by: ben, user: ben }, 'a'), 'Ben left');
    assert.equal(said({ action: 'renamed', by: ann, title: 'Trip' }, 'b'), 'Ann changed the title to “Trip”');
    assert.equal(said({ action: 'dissolved' }, 'b'), 'The conversation changed');
});

Deno.test('the people who are typing are named, up to three', () => {
    assert.equal(typingText([]), '');
    assert.equal(typingText([ben]), 'Ben is typing…');
    assert.equal(typingText([ann, ben]), 'Ann and Ben are typing…');
    assert.equal(typingText([ann, ben, ann, ben]), 'Several people are typing…');
});
