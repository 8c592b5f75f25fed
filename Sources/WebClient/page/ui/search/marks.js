// Marks the words of a search in the messages that are shown. The messages themselves do not change.

import { normal } from '../../text/match.js';

/** @type {MutationObserver | null} */
let observer = null;

/** Marks words until `unmark` is called, or another conversation is opened.
 * @param {string} text the words that were searched for
 */
export function markWords(text) {
    unmark();
    const wanted = normal(text).split(' ').filter((word) => word);
    const log = document.querySelector('parley-log');
    if (!CSS.highlights || !log || wanted.length === 0) return;
    let isScheduled = false;
    const mark = () => {
        isScheduled = false;
        CSS.highlights.set('found', new Highlight(...rangesIn(log, wanted)));
    };
    observer = new MutationObserver(() => {
        if (isScheduled) return;
        isScheduled = true;
        requestAnimationFrame(mark);
    });
    observer.observe(log, { childList: true, subtree: true });
    mark();
}

export function unmark() {
    observer?.disconnect();
    observer = null;
    CSS.highlights?.delete('found');
}

/** The words of texts that begin with one of those that are wanted.
 * @param {Element} log @param {string[]} wanted
 */
function rangesIn(log, wanted) {
    const ranges = [];
    for (const body of log.querySelectorAll('.body')) {
        const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
                if (!wanted.some((each) => normal(word).startsWith(each))) continue;
                const range = new Range();
                range.setStart(node, index);
                range.setEnd(node, index + word.length);
                ranges.push(range);
            }
        }
    }
    return ranges;
}
