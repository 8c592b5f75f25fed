// What searches share: operators in the user's language, and excerpts with the words marked.

import { parseQuery } from '../../core/search.js';
import { element } from '../dom.js';
import { t } from '../../language/index.js';

/** @type {Record<string, string>} */
const references = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const operators = ['from', 'in', 'before', 'after', 'has', 'file', 'picture', 'link'];

/** Takes a search apart, with operators in English or in the page's language.
 * @param {string} text */
export function queryOf(text) {
    return parseQuery(text, Object.fromEntries(operators.map((name) => [t(`search.${name}`), name])));
}

/** Returns the hint about operators, in the page's language.
 * @param {boolean} isHere whether one conversation is searched */
export function operatorsHint(isHere) {
    const [from, place, before, after, has, ...kinds] = operators.map((name) => t(`search.${name}`));
    const parts = [
        `${from}:ben`,
        ...isHere ? [] : [`${place}:"…"`],
        `${before}:2026-11-05`,
        `${after}:2026-11-05`,
        ...kinds.map((kind) => `${has}:${kind}`),
    ];
    return [t('search.hint'), ' ', ...parts.flatMap((part) => [element('code', { dir: 'auto' }, part), ' '])];
}

/** Returns the nodes of a result's excerpt. The server marks the matching words by `<mark>` and escapes the rest.
 * @param {string} text
 */
export function excerptNodes(text) {
    // Every second part was between the two tags.
    return text.split(/<\/?mark>/).map((part, index) => {
        const plain = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (reference) => references[reference]);
        return index % 2 === 0 ? plain : element('mark', {}, plain);
    });
}
