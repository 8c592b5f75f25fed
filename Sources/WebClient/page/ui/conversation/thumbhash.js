// Draws the tiny preview that a ThumbHash describes, by the algorithm published at https://evanw.github.io/thumbhash/
// (public domain, Evan Wallace).

/** Returns a canvas with the preview, or null if the hash is not valid.
 * @param {string} hash base64
 */
export function drawThumbhash(hash) {
    try {
        const picture = decodeThumbhash(Uint8Array.from(atob(hash), (character) => character.charCodeAt(0)));
        const canvas = document.createElement('canvas');
        canvas.width = picture.width;
        canvas.height = picture.height;
        canvas.getContext('2d')?.putImageData(new ImageData(picture.pixels, picture.width, picture.height), 0, 0);
        return canvas;
    } catch {
        return null;
    }
}

/** Returns the pixels (RGBA) of a hash.
 * @param {Uint8Array} hash
 * @param {number} [size] width or height of the result, whichever is greater; the page enlarges it
 */
export function decodeThumbhash(hash, size = 16) {
    if (hash.length < 5) throw new RangeError('The hash is too short.');
    const header = hash[0] | (hash[1] << 8) | (hash[2] << 16);
    const shape = hash[3] | (hash[4] << 8);
    const hasAlpha = header >> 23 === 1;
    const isLandscape = shape >> 15 === 1;
    const across = Math.max(3, isLandscape ? (hasAlpha ? 5 : 7) : shape & 7);
    const down = Math.max(3, isLandscape ? shape & 7 : (hasAlpha ? 5 : 7));
    const coefficients = reader(hash, hasAlpha ? 6 : 5);
    const light = { base: (header & 63) / 63, waves: coefficients(across, down, ((header >> 18) & 31) / 31) };
    // Colours are stored weaker than they are.
    const yellow = {
        base: ((header >> 6) & 63) / 31.5 - 1,
        waves: coefficients(3, 3, (((shape >> 3) & 63) / 63) * 1.25),
    };
    const red = {
        base: ((header >> 12) & 63) / 31.5 - 1,
        waves: coefficients(3, 3, (((shape >> 9) & 63) / 63) * 1.25),
    };
    const alpha = hasAlpha
        ? { base: (hash[5] & 15) / 15, waves: coefficients(5, 5, (hash[5] >> 4) / 15) }
        : { base: 1, waves: [] };
    // The stored shape, not the one raised to three waves, has the proportions.
    const [wide, high] = isLandscape ? [hasAlpha ? 5 : 7, shape & 7] : [shape & 7, hasAlpha ? 5 : 7];
    const ratio = wide / Math.max(high, 1);
    const width = Math.max(1, Math.round(ratio > 1 ? size : size * ratio));
    const height = Math.max(1, Math.round(ratio > 1 ? size / ratio : size));
    const columns = cosines(width, Math.max(across, 5));
    const rows = cosines(height, Math.max(down, 5));
    const pixels = new Uint8ClampedArray(width * height * 4);
    for (let y = 0, place = 0; y < height; y += 1) {
        for (let x = 0; x < width; x += 1, place += 4) {
            const at = (/** @type {{base: number, waves: Wave[]}} */ { base, waves }) =>
                waves.reduce((sum, [i, j, value]) => sum + value * columns[x][i] * rows[y][j] * 2, base);
            const [l, p, q] = [at(light), at(yellow), at(red)];
            const blue = l - (2 / 3) * p;
            const r = (3 * l - blue + q) / 2;
            pixels.set([r * 255, (r - q) * 255, blue * 255, at(alpha) * 255], place);
        }
    }
    return { width, height, pixels };
}

/** A wave across and down with its strength. @typedef {[across: number, down: number, value: number]} Wave */

/** Returns a function that reads the waves of the next channel, four bits each.
 * @param {Uint8Array} hash @param {number} start
 */
function reader(hash, start) {
    let index = 0;
    return (/** @type {number} */ across, /** @type {number} */ down, /** @type {number} */ scale) => {
        /** @type {Wave[]} */
        const waves = [];
        for (let j = 0; j < down; j += 1) {
            for (let i = j ? 0 : 1; i * down < across * (down - j); i += 1, index += 1) {
                const bits = (hash[start + (index >> 1)] >> ((index & 1) << 2)) & 15;
                waves.push([i, j, (bits / 7.5 - 1) * scale]);
            }
        }
        return waves;
    };
}

/** @param {number} length @param {number} count */
function cosines(length, count) {
    return Array.from(
        { length },
        (_, x) => Array.from({ length: count }, (_, i) => Math.cos((Math.PI / length) * (x + 0.5) * i)),
    );
}
