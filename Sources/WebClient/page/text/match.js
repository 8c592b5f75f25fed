// How a title or name is compared with what the user types.

/** Folds case and accents, as the server's search does.
 * @param {string} text
 */
export function normal(text) {
    return text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** Whether every word of `wanted` begins a word of `text`.
 * @param {string} text @param {string} wanted
 */
export function matchesWords(text, wanted) {
    const words = ` ${normal(text)}`;
    return normal(wanted).split(' ').every((word) => words.includes(` ${word}`));
}
