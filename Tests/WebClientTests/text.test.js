import assert from 'node:assert/strict';
import { safeHref } from '../../Sources/WebClient/page/text/links.js';
import { mentionable, mentionedIDs } from '../../Sources/WebClient/page/text/mentions.js';
import { tokenize } from '../../Sources/WebClient/page/text/tokens.js';

/** @typedef {import('../../Sources/WebClient/page/text/tokens.js').Token} Token */

/** What a reader sees: the `textContent` of the nodes.
 * @param {Token[]} tokens @returns {string} */
function visibleText(tokens) {
    return tokens.map((token) => 'children' in token ? visibleText(token.children) : token.text).join('');
}

/** A short notation of tokens for expectations: `bold(…)`, `<href>`, `@id`.
 * @param {Token[]} tokens @returns {string} */
function notation(tokens) {
    return tokens.map((token) => {
        if (token.type === 'text') return token.text;
        if (token.type === 'link') return `<${token.href}>`;
        if (token.type === 'mention') return `@${token.id}`;
        if ('children' in token) return `${token.type}(${notation(token.children)})`;
        return `${token.type}(${token.text})`;
    }).join('');
}

/** @param {string} text @param {{id: string, name: string}[]} [people] */
const shown = (text, people) => notation(tokenize(text, people));
/** @param {string} text */
const inlineShown = (text) => shown(text).replace(/^paragraph\((.*)\)$/su, '$1');

Deno.test('styles need a mark on both sides of a word', () => {
    assert.equal(inlineShown('a **b c** d'), 'a bold(b c) d');
    assert.equal(inlineShown('*a* _b_ ~c~ ~~d~~'), 'italic(a) italic(b) strike(c) strike(d)');
    assert.equal(inlineShown('و**نعناع**'), 'وbold(نعناع)');
    assert.equal(inlineShown('***both***'), 'bold(italic(both))');
    assert.equal(inlineShown('**a *b* c**'), 'bold(a italic(b) c)');
    assert.equal(inlineShown('(*a*), "_b_"!'), '(italic(a)), "italic(b)"!');
    assert.equal(inlineShown('2*3*4 snake_case_name 5 * 6 * 7 ~5 to ~6'), '2*3*4 snake_case_name 5 * 6 * 7 ~5 to ~6');
    assert.equal(inlineShown('*a\nb*'), '*a\nb*');
    assert.equal(inlineShown('*a **b* c'), 'italic(a **b) c');
    assert.equal(inlineShown('**** ** * ``'), '**** ** * ``');
});

Deno.test('code keeps its characters', () => {
    assert.equal(inlineShown('run `rm *.txt` or `a` `'), 'run code(rm *.txt) or code(a) `');
    assert.equal(
        shown('a\n```js\nlet *x* = `1`;\n\n<b>\n```\nb'),
        'paragraph(a)fence(let *x* = `1`;\n\n<b>)paragraph(b)',
    );
    assert.equal(shown('```\nnever closed'), 'paragraph(```\nnever closed)');
});

Deno.test('quotes and lists', () => {
    assert.equal(shown('> a\n> *b*\nc'), 'quote(paragraph(a\nitalic(b)))paragraph(c)');
    assert.equal(shown('> > a'), 'quote(paragraph(> a))');
    assert.equal(shown('x\n- a\n- **b**\ny'), 'paragraph(x)list(item(a)item(bold(b)))paragraph(y)');
    const [list] = tokenize('3. a\n4. b');
    assert.equal(list.type === 'list' && list.isOrdered && list.start, 3);
    assert.equal(shown('-a 1.5'), 'paragraph(-a 1.5)');
});

Deno.test('links are http, https and mailto only', () => {
    assert.equal(inlineShown('see https://a.example/x?y=1&z, ok'), 'see <https://a.example/x?y=1&z>, ok');
    assert.equal(inlineShown('(http://a.example/b_(c))'), '(<http://a.example/b_(c)>)');
    assert.equal(inlineShown('**https://a.example**'), 'bold(<https://a.example/>)');
    assert.equal(inlineShown('mailto:ann@a.example!'), '<mailto:ann@a.example>!');
    for (const scheme of ['javascript:alert(1)', 'data:text/html,x', 'ftp://a.example', 'jahttp://a', 'vbscript:x']) {
        assert.equal(inlineShown(scheme), scheme);
    }
    assert.equal(inlineShown('https://a.example/\u202Egpj.exe'), '<https://a.example/>\u202Egpj.exe');
    assert.equal(inlineShown('https:// http://['), 'https:// http://[');
    assert.equal(safeHref('javascript:alert(1)//https://a.example'), null);
    assert.equal(safeHref('\u0001javascript:alert(1)'), null);
});

Deno.test('mentions are names of people who are given', () => {
    const people = [{ id: '1', name: 'Ben' }, { id: '2', name: 'Ben Smith' }, { id: '3', name: 'نور' }];
    assert.equal(shown('@Ben, @Ben Smith! @Bene a@Ben @نور', people), 'paragraph(@1, @2! @Bene a@Ben @3)');
    assert.deepEqual(mentionedIDs('@Ben Smith and @Ben and @Ben', people), ['2', '1']);
    assert.deepEqual(mentionedIDs('@Cleo', people), []);
});

/** A repeatable generator of numbers below a bound. @param {number} seed */
function random(seed) {
    let state = seed;
    return (/** @type {number} */ bound) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * bound);
    };
}

Deno.test('random texts: nothing is thrown, lost or invented', () => {
    // deno-fmt-ignore
    const pieces = ['*', '**', '_', '~~', '`', '```', '\n', '\r\n', '> ', '- ', '1. ', '@', '@Ben', 'http://', 'https://a.example/', 'javascript:',
        'mailto:a@b.example', '(', ')', '[', ' ', 'word', '<img src=x onerror=alert(1)>', '&amp;', '\u202E', '👩‍👩‍👧', 'نص', '\ud800', '\0', '.'];
    const next = random(7);
    for (let round = 0; round < 20000; round += 1) {
        const text = Array.from({ length: next(30) }, () => pieces[next(pieces.length)]).join('');
        const tokens = tokenize(text, [{ id: '1', name: 'Ben' }]);
        checkSafe(tokens);
        // What is left of the text is the text in order, without marks and white space.
        const visible = visibleText(tokens).replace(/\s/g, '');
        const original = text.replace(/\s/g, '');
        let place = 0;
        for (const character of visible) {
            const found = original.indexOf(character, place);
            // Most characters follow the one before.
            if (found !== place) {
                assert.ok(
                    found >= 0 && /^[*_~`>1.\-a-zA-Z+#]*$/.test(original.slice(place, found)),
                    JSON.stringify(text),
                );
            }
            place = found + character.length;
        }
        assert.match(original.slice(place), /^[*_~`>1.\-a-zA-Z+#]*$/);
        const words = (/** @type {string} */ text) => text.match(/word|onerror|نص/g)?.length ?? 0;
        if (!text.includes('```')) assert.equal(words(visible), words(original), JSON.stringify(text));
    }
});

/** @param {Token[]} tokens */
function checkSafe(tokens) {
    for (const token of tokens) {
        if (token.type === 'link') assert.match(token.href, /^(https?:\/\/|mailto:)/);
        if ('children' in token) checkSafe(token.children);
    }
}

/** Returns how many milliseconds it takes to tokenize a text `times` times.
 * @param {string} text @param {number} times */
function duration(text, times) {
    const start = performance.now();
    for (let n = 0; n < times; n += 1) tokenize(text, [{ id: '1', name: 'Ben' }]);
    return performance.now() - start;
}

Deno.test('long texts take linear time', () => {
    const units = [
        '*a ',
        '**a _b ',
        '`',
        '```js\n',
        '```\n',
        '> ',
        '- a\n',
        '@Ben',
        'http://[',
        'https://a.example/((',
        '~~a~~',
        '_',
        '*',
    ];
    const times = 100;
    for (const unit of units) {
        const short = unit.repeat(Math.ceil(1000 / unit.length));
        const long = short.repeat(times);
        // In linear time the ratio is 1, in quadratic time 100. Other work on the machine slows both measurements, at times
        // one of them more. The first try includes the compiler, so the fastest of at least three tries counts.
        const fastest = { short: Infinity, long: Infinity };
        const isLinear = () => fastest.long < 30 * fastest.short;
        for (let tries = 1; tries <= 3 || tries <= 10 && !isLinear(); tries += 1) {
            fastest.short = Math.min(fastest.short, duration(short, times));
            fastest.long = Math.min(fastest.long, duration(long, 1));
        }
        assert.ok(isLinear(), `${JSON.stringify(unit)}: ${JSON.stringify(fastest)}`);
    }
});

Deno.test('a mention may be a user name, and a first name in a message that mentions few', () => {
    const people = [{ id: '1', name: 'Ann Archer', username: 'ann' }, { id: '2', name: 'Ben Okafor', username: null }];
    assert.equal(shown('@Ann @ann @Ann Archer @Ben', mentionable(people, true)), 'paragraph(@1 @1 @1 @2)');
    assert.equal(shown('@Ann @ann @Ann Archer @Ben', mentionable(people)), 'paragraph(@Ann @1 @1 @Ben)');
});
