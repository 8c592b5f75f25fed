// Turns the text of a message into tokens: links, code, emphasis, quotes and lists. One pass, linear time. Every character
// of the text ends up in exactly one token, except the marks that a style replaces.

import { findLink } from './links.js';
import { findMention } from './mentions.js';

/** @typedef {{type: 'text', text: string}
 *   | {type: 'link', text: string, href: string}
 *   | {type: 'mention', text: string, id: string}
 *   | {type: 'code', text: string}
 *   | {type: 'fence', text: string}
 *   | {type: 'bold' | 'italic' | 'strike' | 'paragraph' | 'quote' | 'item', children: Token[]}
 *   | {type: 'list', isOrdered: boolean, start: number, children: Token[]}} Token */

/** @typedef {import('./mentions.js').Mentionable} Mentionable */

// What a message shows before the reader asks for more.
const linesMax = 200;
const lengthMax = 4000;

/** @type {Record<string, 'bold' | 'italic' | 'strike'>} */
const styles = { '**': 'bold', '__': 'bold', '*': 'italic', '_': 'italic', '~~': 'strike', '~': 'strike' };
const special = /[`*_~@]|https?:|mailto:/giu;
const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;
const fence = /^ {0,3}```[\w+#.-]*\s*$/;
const endOfFence = /^ {0,3}```\s*$/;
const item = /^ {0,3}(?:[-*•]|(\d{1,4})[.)])\s+(?=\S)/;
const quote = /^> ?/;

/** Returns the blocks of a text.
 * @param {string} text
 * @param {Mentionable[]} [mentions] the people whose `@Name` is a mention
 * @returns {Token[]}
 */
export function tokenize(text, mentions = []) {
    return blocks(linesOf(text), mentions, true);
}

/** Returns the first lines of a long text, or the text itself if it is short. A block of code that is cut ends there.
 * @param {string} text
 */
export function beginning(text) {
    const all = linesOf(text);
    const lines = firstPart(all.slice(0, linesMax).join('\n'), lengthMax).split('\n');
    if (lines.length === all.length && lines.at(-1) === all.at(-1)) return text;
    let isCode = false;
    for (const line of lines) isCode = isCode ? !endOfFence.test(line) : fence.test(line);
    return lines.join('\n') + (isCode ? '\n```' : '');
}

/** Returns the first UTF-16 code units of a text, without half a code point at the end.
 * @param {string} text @param {number} count
 */
export function firstPart(text, count) {
    return text.slice(0, count).replace(/[\ud800-\udbff]$/, '');
}

/** @param {string} text */
function linesOf(text) {
    return text.replace(/\r\n?/g, '\n').split('\n');
}

/** @param {string[]} lines @param {Mentionable[]} mentions @param {boolean} mayNest whether quotes and lists count */
function blocks(lines, mentions, mayNest) {
    /** @type {Token[]} */
    const found = [];
    /** @type {string[]} */
    let paragraph = [];
    const endParagraph = () => {
        // An expression that trims takes quadratic time for many empty lines between others.
        let [start, end] = [0, paragraph.length];
        while (end > 0 && !paragraph[end - 1]) end -= 1;
        while (start < end && !paragraph[start]) start += 1;
        if (end > 0) found.push({ type: 'paragraph', children: inline(paragraph.slice(start, end), mentions) });
        paragraph = [];
    };
    const lastEnd = lines.findLastIndex((line) => endOfFence.test(line));
    for (let index = 0; index < lines.length;) {
        const line = lines[index];
        if (index < lastEnd && fence.test(line)) {
            endParagraph();
            let end = index + 1;
            while (!endOfFence.test(lines[end])) end += 1;
            found.push({ type: 'fence', text: lines.slice(index + 1, end).join('\n') });
            index = end + 1;
        } else if (mayNest && quote.test(line)) {
            endParagraph();
            const end = endOfRun(lines, index, quote);
            const inner = lines.slice(index, end).map((line) => line.replace(quote, ''));
            found.push({ type: 'quote', children: blocks(inner, mentions, false) });
            index = end;
        } else if (mayNest && item.test(line)) {
            endParagraph();
            const end = endOfRun(lines, index, item);
            found.push(list(lines.slice(index, end), mentions));
            index = end;
        } else {
            paragraph.push(line);
            index += 1;
        }
    }
    endParagraph();
    return found;
}

/** @param {string[]} lines @param {number} start @param {RegExp} pattern */
function endOfRun(lines, start, pattern) {
    let end = start;
    while (end < lines.length && pattern.test(lines[end])) end += 1;
    return end;
}

/** @param {string[]} lines @param {Mentionable[]} mentions @returns {Token} */
function list(lines, mentions) {
    const number = item.exec(lines[0])?.[1];
    return {
        type: 'list',
        isOrdered: number !== undefined,
        start: Number(number ?? 1),
        children: lines.map((line) => ({ type: 'item', children: inline([line.replace(item, '')], mentions) })),
    };
}

/** Returns the tokens within a paragraph. Styles do not reach over the end of a line.
 * @param {string[]} lines @param {Mentionable[]} mentions @returns {Token[]}
 */
function inline(lines, mentions) {
    /** @type {Token[]} */
    const tokens = [];
    lines.forEach((line, index) => {
        if (index > 0) add(tokens, '\n');
        for (const token of inlineOfLine(line, mentions)) {
            token.type === 'text' ? add(tokens, token.text) : tokens.push(token);
        }
    });
    return tokens;
}

/** @param {string} line @param {Mentionable[]} mentions @returns {Token[]} */
function inlineOfLine(line, mentions) {
    /** Open styles, outermost first; the first entry is the line itself.
     * @type {{mark: string, children: Token[]}[]} */
    const open = [{ mark: '', children: [] }];
    const top = () => open[open.length - 1].children;
    const closeUnmatched = () => {
        const { mark, children } = /** @type {{mark: string, children: Token[]}} */ (open.pop());
        add(top(), mark);
        for (const child of children) child.type === 'text' ? add(top(), child.text) : top().push(child);
    };
    let hasBackticks = true;
    let position = 0;
    while (position < line.length) {
        special.lastIndex = position;
        const at = special.exec(line)?.index ?? line.length;
        add(top(), line.slice(position, at));
        if (at === line.length) break;
        position = at;
        const character = line[at];
        const before = lastCharacter(line, at);
        if (character === '`') {
            /** @type {number} */
            const end = hasBackticks ? line.indexOf('`', at + 1) : -1;
            hasBackticks = end > 0;
            if (end > at + 1) {
                top().push({ type: 'code', text: line.slice(at + 1, end) });
                position = end + 1;
                continue;
            }
        } else if (character === '@') {
            const mention = wordCharacter.test(before) ? null : findMention(line, at, mentions);
            if (mention) {
                const text = line.slice(at, mention.end);
                top().push({ type: 'mention', text, id: mention.id });
                position = mention.end;
                continue;
            }
        } else if (character in styles) {
            const isDouble = line[at + 1] === character &&
                (line[at + 2] !== character || open.at(-1)?.mark !== character);
            const mark = isDouble ? character.repeat(2) : character;
            const after = line[at + mark.length] ?? '';
            const index = open.findIndex((style) => style.mark === mark);
            // In Arabic, "and" is part of the next word: `**` counts within words, as in CommonMark.
            const isEdge = (/** @type {string} */ next) =>
                mark === '**' || next === character || !wordCharacter.test(next);
            const mayClose = /\S/.test(before) && isEdge(after);
            const mayOpen = /\S/.test(after) && isEdge(before);
            position = at + mark.length;
            if (index > 0 && mayClose && !isEmpty(open, index)) {
                while (open.length > index + 1) closeUnmatched();
                const children = top();
                open.pop();
                top().push({ type: styles[mark], children });
            } else if (index < 0 && mayOpen) open.push({ mark, children: [] });
            else add(top(), mark);
            continue;
        } else if (!wordCharacter.test(before)) {
            const link = findLink(line, at);
            if (link) {
                const text = line.slice(at, link.end);
                link.href === null ? add(top(), text) : top().push({ type: 'link', text, href: link.href });
                position = link.end;
                continue;
            }
        }
        add(top(), character);
        position = at + 1;
    }
    while (open.length > 1) closeUnmatched();
    return open[0].children;
}

/** Whether nothing is after the mark of an open style.
 * @param {{children: Token[]}[]} open @param {number} index */
function isEmpty(open, index) {
    return index === open.length - 1 && open[index].children.length === 0;
}

/** The code point before a position, empty at the start. @param {string} text @param {number} position */
function lastCharacter(text, position) {
    if (position === 0) return '';
    const low = text.charCodeAt(position - 1);
    return text.slice(low >= 0xdc00 && low < 0xe000 ? position - 2 : position - 1, position);
}

/** Appends text, joining it with text before. @param {Token[]} tokens @param {string} text */
function add(tokens, text) {
    if (!text) return;
    const last = tokens[tokens.length - 1];
    if (last?.type === 'text') last.text += text;
    else tokens.push({ type: 'text', text });
}
