// The colour of a picture, known before the picture arrives. A ThumbHash begins with the picture's average in the colour
// space of the algorithm: https://evanw.github.io/thumbhash/

/** Returns the average colour as CSS writes it, or null if the hash is not valid.
 * @param {string} hash base64
 */
export function averageColour(hash) {
    const [first, second, third] = atobOrEmpty(hash);
    if (third === undefined) return null;
    const bits = first | (second << 8) | (third << 16);
    const light = (bits & 63) / 63;
    const yellow = ((bits >> 6) & 63) / 31.5 - 1;
    const red = ((bits >> 12) & 63) / 31.5 - 1;
    const b = light - (2 / 3) * yellow;
    const r = (3 * light - b + red) / 2;
    const percent = (/** @type {number} */ part) => `${Math.round(Math.min(Math.max(part, 0), 1) * 100)}%`;
    return `rgb(${percent(r)} ${percent(r - red)} ${percent(b)})`;
}

/** @param {string} text */
function atobOrEmpty(text) {
    try {
        return [...atob(text)].map((character) => character.charCodeAt(0));
    } catch {
        return [];
    }
}
