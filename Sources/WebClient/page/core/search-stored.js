// A search of the messages that are stored on this device, while the server cannot be reached.

import { matchesWords, normal } from '../text/match.js';

/** @typedef {import('./types.js').Message} Message */

const foundMax = 30;
const before = 60;
const excerptMax = 240;
const word = /[\p{L}\p{N}]+/gu;

/** Returns the newest stored messages with all words of `query`, each with its excerpt as the server's search writes it.
 * @param {import('./store/schema.js').Store} store
 * @param {string} query
 * @param {string} [threadID]
 * @returns {Promise<{message: Message, excerpt: string}[]>} */
export async function searchStored(store, query, threadID) {
    const wanted = normal(query).split(' ').filter(Boolean);
    if (wanted.length === 0) return [];
    const span = threadID ? { from: [threadID, 0], to: [threadID, Infinity] } : {};
    /** @type {Message[]} */
    const messages = await store.read(['messages'], (tx) => tx.all('messages', span));
    return messages
        .filter(({ payload, type, deleted_at }) =>
            type === 'message' && !deleted_at && payload?.text && matchesWords(payload.text, query)
        )
        .sort((one, other) => one.timestamp < other.timestamp ? 1 : -1)
        .slice(0, foundMax)
        .map((message) => ({ message, excerpt: excerpt(message.payload?.text ?? '', wanted) }));
}

/** @param {string} text @param {string[]} wanted the beginnings of words */
function excerpt(text, wanted) {
    const isWanted = (/** @type {string} */ found) => wanted.some((start) => normal(found).startsWith(start));
    const first = [...text.matchAll(word)].find(([found]) => isWanted(found))?.index ?? 0;
    const start = Math.max(0, first - before);
    const part = text.slice(start, start + excerptMax);
    // Words and what is between them: only words are marked, and both are escaped.
    return part.split(/([\p{L}\p{N}]+)/u)
        .map((each, index) => index % 2 === 1 && isWanted(each) ? `<mark>${escaped(each)}</mark>` : escaped(each))
        .join('');
}

/** @param {string} text */
function escaped(text) {
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
