// Addresses in texts. Only http, https and mailto become links.

const schemes = new Set(['http:', 'https:', 'mailto:']);

// Ends at white space, at brackets and quotes that enclose addresses, and at characters that control the direction of
// writing: they could make an address look like another one.
const address = /(?:https?:\/\/|mailto:)[^\s<>"`\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]+/yiu;
const closing = /** @type {Record<string, string>} */ ({ ')': '(', ']': '[', '}': '{' });

/** The address that begins at a position; `href` is null unless it is valid. Punctuation at its end belongs to the
 * sentence.
 * @param {string} text @param {number} start @returns {{end: number, href: string | null} | null}
 */
export function findLink(text, start) {
    address.lastIndex = start;
    const found = address.exec(text)?.[0];
    if (!found) return null;
    const length = lengthWithoutPunctuation(found);
    return { end: start + length, href: safeHref(found.slice(0, length)) };
}

/** The normal form of an address, or null unless its scheme is allowed. @param {string} text */
export function safeHref(text) {
    if (!URL.canParse(text)) return null;
    const url = new URL(text);
    return schemes.has(url.protocol) && (url.host || url.pathname.includes('@')) ? url.href : null;
}

/** @param {string} address */
function lengthWithoutPunctuation(address) {
    /** @type {Record<string, number>} */
    const count = {};
    for (const character of address) count[character] = (count[character] ?? 0) + 1;
    let end = address.length;
    for (; end > 0; end -= 1) {
        const last = address[end - 1];
        if (last in closing) {
            if ((count[last] ?? 0) <= (count[closing[last]] ?? 0)) break;
            count[last] -= 1;
        } else if (!/[.,;:!?'*_~…’”»]/.test(last)) break;
    }
    return end;
}
