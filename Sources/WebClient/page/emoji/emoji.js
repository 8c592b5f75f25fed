// The emoji with their names, loaded when they are first needed.

/** @typedef {{emoji: string, hasTones: boolean, name: string, words: string}} Emoji */
/** @typedef {{name: string, members: Emoji[]}} Group */

export const tones = ['', '🏻', '🏼', '🏽', '🏾', '🏿'];

/** @type {Promise<Group[]> | null} */
let loaded = null;

/** Loads all emoji by group, named in the page's language. */
export function loadEmoji() {
    loaded ??= load().catch((error) => {
        loaded = null;
        throw error;
    });
    return loaded;
}

/** @returns {Promise<Group[]>} */
async function load() {
    const { lang } = document.documentElement;
    const read = (/** @type {string} */ name) => fetch(new URL(`${name}.json`, import.meta.url));
    const [groups, own] = await Promise.all([read('emoji'), read(lang).catch(() => null)]);
    // A language without a file here has the English names.
    const names = own?.ok ? own : await read('en');
    return group(await groups.json(), await names.json());
}

/** Joins the two files.
 * @param {Record<string, string>} groups @param {string[]} names
 * @returns {Group[]}
 */
export function group(groups, names) {
    let index = 0;
    return Object.entries(groups).map(([name, text]) => ({
        name,
        members: text.split(' ').map((entry) => {
            const words = names[index];
            index += 1;
            return {
                emoji: entry.replace('+', ''),
                hasTones: entry.endsWith('+'),
                name: words.split('|')[0],
                words: words.toLocaleLowerCase(),
            };
        }),
    }));
}

/** The emoji in a skin tone: the tone follows the first character, in place of the one that asks for emoji style.
 * @param {Emoji} emoji @param {string} tone
 */
export function inTone({ emoji, hasTones }, tone) {
    if (!hasTones || !tone) return emoji;
    const [first, ...rest] = emoji;
    return first + tone + rest.join('').replace(/^\ufe0f/, '');
}

/** Those whose name or search words contain all words of a query, names that begin so first.
 * @param {Group[]} groups @param {string} query
 */
export function findEmoji(groups, query) {
    const wanted = query.toLocaleLowerCase().split(/\s+/).filter((word) => word);
    const found = groups.flatMap(({ members }) => members).filter(({ words, emoji }) =>
        emoji === query.trim() || wanted.every((word) => words.includes(word))
    );
    const rank = (/** @type {Emoji} */ { words }) => words.startsWith(wanted[0] ?? '') ? 0 : 1;
    return found.sort((one, other) => rank(one) - rank(other));
}
