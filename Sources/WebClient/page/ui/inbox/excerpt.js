import { element } from '../dom.js';

/** @type {Record<string, string>} */
const references = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Returns the nodes of a search result's excerpt. The server marks the matching words by `<mark>` and escapes the rest.
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function excerpt(text) {
    // Every second part was between the two tags.
    return text.split(/<\/?mark>/).map((part, index) => {
        const plain = part.replace(/&(?:amp|lt|gt|quot|#39);/g, (reference) => references[reference]);
        return index % 2 === 0 ? plain : element('mark', {}, plain);
    });
}
