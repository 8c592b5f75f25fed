// Labels as folders: which there are, and which a conversation may get.

import { folders, labelsOf, withLabel } from '../../Sources/WebClient/page/core/state/labels.js';
import { assertSame } from './assertions.js';

/** @param {string[] | undefined} labels @param {string[]} [own]
 * @returns {any} */
const thread = (labels, own) => ({ labels, me: { labels: own } });

Deno.test('a conversation has the labels of the host app and one’s own, each once', () => {
    assertSame(labelsOf(thread(['order', 'late'], ['late', 'Mine'])), ['order', 'late', 'Mine'], 'labels');
    assertSame(labelsOf(thread(undefined)), [], 'labels');
});

Deno.test('folders are all labels, in the order of a dictionary', () => {
    assertSame(folders([thread(['b']), thread([], ['ä', 'a']), thread(['b', 'C'])]), ['a', 'ä', 'b', 'C'], 'labels');
    assertSame(folders([]), [], 'labels');
});

Deno.test('a label is added once, trimmed, and within the bounds of the service', () => {
    assertSame(withLabel([], '  work '), ['work'], 'labels');
    assertSame(withLabel(['work'], 'Work'), ['work', 'Work'], 'labels');
    assertSame(withLabel(['work'], 'work '), null, 'labels');
    assertSame(withLabel([], '   '), null, 'labels');
    assertSame(withLabel([], '😀'.repeat(64)), ['😀'.repeat(64)], 'labels');
    assertSame(withLabel([], 'x'.repeat(65)), null, 'labels');
    assertSame(withLabel([...'12345678'], '9'), null, 'labels');
});
