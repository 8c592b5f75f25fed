// Mentions are in a text as `@` and the person's name.

/** @typedef {{id: string, name: string}} Mentionable */

const wordCharacter = /[\p{L}\p{N}\p{M}_]/u;

/** The ways to write a person after an `@`: the name, the user name and, where it is clear who is meant, the first name.
 * @param {{id: string, name: string, username?: string | null}[]} people @param {boolean} [areFew] @returns {Mentionable[]}
 */
export function mentionable(people, areFew = false) {
    return people.flatMap(({ id, name, username }) =>
        [name, username ?? '', areFew ? name.split(/\s/)[0] : ''].map((name) => ({ id, name }))
    );
}

/** The person whose name follows the `@` at a position; the longest name counts.
 * @param {string} text @param {number} at @param {Mentionable[]} people @returns {{id: string, end: number} | null}
 */
export function findMention(text, at, people) {
    let best = null;
    for (const { id, name } of people) {
        const end = at + 1 + name.length;
        if (!name || (best && end <= best.end) || !text.startsWith(name, at + 1)) continue;
        const after = String.fromCodePoint(text.codePointAt(end) ?? 32);
        if (!wordCharacter.test(after)) best = { id, end };
    }
    return best;
}

/** The ids of the people whom a text mentions, each once.
 * @param {string} text @param {Mentionable[]} people those who were chosen from the list first: names are not unique
 */
export function mentionedIDs(text, people) {
    const ids = new Set();
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
        const mention = findMention(text, at, people);
        if (mention) ids.add(mention.id);
    }
    return /** @type {string[]} */ ([...ids]);
}
