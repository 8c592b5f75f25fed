// Makes nodes of a text's tokens. Text reaches the page as text nodes only.

import { t } from '../language/index.js';
import { element } from '../ui/dom.js';
import { iconButton } from '../ui/parts/action.js';
import { tokenize } from './tokens.js';

/** @typedef {import('./tokens.js').Token} Token */

const tags = /** @type {const} */ ({
    bold: 'strong',
    italic: 'em',
    strike: 's',
    paragraph: 'p',
    quote: 'blockquote',
    item: 'li',
});

/** Returns the nodes of a message's text.
 * @param {string} text
 * @param {{id: string, name: string}[]} mentions the people whom the message mentions
 * @param {string} [me] the caller's id: mentions of the caller stand out
 */
export function renderText(text, mentions, me) {
    const nodes = tokenize(text, mentions).map((token) => node(token, me));
    // A single block leaves its direction to the line that it shares with the time.
    if (nodes.length === 1) /** @type {Element} */ (nodes[0]).removeAttribute('dir');
    return nodes;
}

/** @param {Token} token @param {string} [me] @returns {Node} */
function node(token, me) {
    switch (token.type) {
        case 'text':
            return document.createTextNode(token.text);
        case 'link': {
            const link = { href: token.href, rel: 'noopener noreferrer', target: '_blank', dir: 'ltr' };
            return element('a', link, token.text);
        }
        case 'mention':
            return element('bdi', {
                class: token.id === me ? 'mention mention-of-me' : 'mention',
                role: 'button',
                tabindex: -1,
                'data-user': token.id,
            }, token.text);
        case 'code':
            return element('code', { dir: 'ltr' }, token.text);
        case 'fence':
            return element(
                'div',
                { class: 'fence', dir: 'ltr' },
                element('pre', {}, element('code', {}, token.text)),
                iconButton('copy', t('conversation.copyCode'), () => navigator.clipboard.writeText(token.text)),
            );
        case 'list': {
            const children = token.children.map((child) => node(child, me));
            if (token.isOrdered) return element('ol', { start: String(token.start), dir: 'auto' }, ...children);
            return element('ul', { dir: 'auto' }, ...children);
        }
        default: {
            const isBlock = token.type === 'paragraph' || token.type === 'quote';
            const children = token.children.map((child) => node(child, me));
            return element(tags[token.type], isBlock ? { dir: 'auto' } : {}, ...children);
        }
    }
}
