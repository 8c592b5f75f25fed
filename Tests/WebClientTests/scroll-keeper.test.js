// The view of a conversation stays where the user has put it while rows come and go.

import assert from 'node:assert/strict';

Object.assign(globalThis, {
    ResizeObserver: class {
        observe() {}
        disconnect() {}
    },
});
const { ScrollKeeper } = await import('../../Sources/WebClient/page/ui/conversation/scroll-keeper.js');

/** A log of rows, each 40 pixels high, in a view of 200. As a browser does, it never scrolls past its content.
 * @param {number} count */
function log(count) {
    /** @type {any[]} */
    const rows = [];
    let top = 0;
    const row = () => ({
        localName: 'article',
        offsetHeight: 40,
        get offsetTop() {
            return rows.indexOf(this) * 40;
        },
        get isConnected() {
            return rows.includes(this);
        },
    });
    const scroller = {
        clientHeight: 200,
        get scrollHeight() {
            return rows.length * 40;
        },
        get scrollTop() {
            top = Math.max(0, Math.min(top, this.scrollHeight - this.clientHeight));
            return top;
        },
        set scrollTop(value) {
            top = value;
        },
    };
    const content = { children: rows };
    const keeper = new ScrollKeeper(/** @type {any} */ (scroller), /** @type {any} */ (content));
    const add = (/** @type {'before' | 'after'} */ where, /** @type {number} */ more) => {
        const made = Array.from({ length: more }, row);
        if (where === 'before') rows.unshift(...made);
        else rows.push(...made);
    };
    add('after', count);
    keeper.showEnd();
    return { scroller, keeper, add, rows };
}

Deno.test('a view at the end follows it, when rows come on both sides and when rows go', () => {
    const { scroller, keeper, add, rows } = log(50);
    add('after', 3);
    keeper.restore();
    assert.equal(scroller.scrollTop, 53 * 40 - 200);
    add('before', 20);
    keeper.restore();
    assert.equal(scroller.scrollTop, 73 * 40 - 200);
    rows.splice(-5);
    keeper.restore();
    assert.equal(scroller.scrollTop, 68 * 40 - 200);
});

Deno.test('a view that the user has left in the middle keeps its rows', () => {
    const { scroller, keeper, add } = log(50);
    scroller.scrollTop = 1000;
    keeper.record();
    add('before', 20);
    keeper.restore();
    add('after', 20);
    keeper.restore();
    assert.equal(scroller.scrollTop, 1800);
});

Deno.test('rows that come before the event of a scroll do not undo it', () => {
    const { scroller, keeper, add } = log(50);
    // The user scrolls up by 600 pixels, and the event is still to come.
    scroller.scrollTop -= 600;
    add('before', 20);
    keeper.restore();
    assert.equal(scroller.scrollTop, 50 * 40 - 200 - 600 + 800);
    scroller.scrollTop += 100;
    add('after', 1);
    keeper.restore();
    assert.equal(scroller.scrollTop, 50 * 40 - 200 - 500 + 800);
});
