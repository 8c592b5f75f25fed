// Searching messages. The server finds words, in all threads or in one. What else a search asks for (who, when, with what)
// is checked here, page by page, until enough is found.

import { matchesWords } from '../text/match.js';
import { offline } from './requests.js';

/** @typedef {import('./types.js').ChatShape} Chat */
/** @typedef {import('./types.js').Message} Message */

/** What a search asks for. `before` and `after` are days as `2026-11-05`: before the day, and from the day on.
 * @typedef {object} Query
 * @property {string} words what the server looks for
 * @property {string[]} from names or user names
 * @property {string | null} in the title of a conversation
 * @property {string | null} before
 * @property {string | null} after
 * @property {('file' | 'picture' | 'link')[]} has
 * @property {string[]} unknown parts that could not be understood, such as `before:soon`
 */

/** Operators and kinds in the user's language: from each word to the English one.
 * @typedef {Record<string, string>} Dictionary */

/** @typedef {{message: Message, excerpt: string | null}} Found `excerpt` has `<mark>` around words and is escaped */

const part = /(\p{L}+):("[^"]*"?|\S+)/gu;
const english = ['from', 'in', 'before', 'after', 'has', 'file', 'picture', 'link'];
const pageSize = 50;
const historySize = 200;
/** Requests of one step, at most. */
const requestsMax = 8;

/** Takes a search apart.
 * @param {string} text such as `beans from:ben before:2026-11-05 has:link`
 * @param {Dictionary} [dictionary]
 * @returns {Query}
 */
export function parseQuery(text, dictionary = {}) {
    /** @type {Query} */
    const query = { words: '', from: [], in: null, before: null, after: null, has: [], unknown: [] };
    const meaning = (/** @type {string} */ word) => {
        const folded = word.toLocaleLowerCase();
        return english.includes(folded) ? folded : dictionary[folded];
    };
    query.words = text.replace(part, (whole, /** @type {string} */ operator, /** @type {string} */ quoted) => {
        const value = quoted.replaceAll('"', '').trim();
        const name = meaning(operator);
        if (name === 'from') query.from.push(value.replace(/^@/, ''));
        else if (name === 'in') query.in = value;
        else if (name === 'before' || name === 'after') {
            if (startOfDay(value) === null) query.unknown.push(whole);
            else query[name] = value;
        } else if (name === 'has') {
            const kind = meaning(value);
            if (kind === 'file' || kind === 'picture' || kind === 'link') query.has.push(kind);
            else query.unknown.push(whole);
        } else return whole;
        return ' ';
    }).replace(/\s+/g, ' ').trim();
    return query;
}

/** Whether a search asks for anything.
 * @param {Query} query */
export function isEmpty({ words, from, has, before, after }) {
    return !words && from.length === 0 && has.length === 0 && !before && !after;
}

/** Whether a message is what a search asks for, apart from its words.
 * @param {Message} message @param {Query} query
 */
export function matches({ sender, payload, type, timestamp, deleted_at }, { from, has, before, after }) {
    if (deleted_at || !payload || type === 'system') return false;
    const at = Date.parse(timestamp);
    if (before && at >= Number(startOfDay(before))) return false;
    if (after && at < Number(startOfDay(after))) return false;
    const isFrom = (/** @type {string} */ name) =>
        matchesWords(sender?.name ?? '', name) || sender?.username?.startsWith(name.toLowerCase());
    if (!from.every(isFrom)) return false;
    const files = payload.attachments ?? [];
    const tests = {
        file: () => files.length > 0,
        picture: () => files.some(({ content_type }) => content_type?.startsWith('image/')),
        link: () => /https?:\/\/\S/i.test(payload.text ?? ''),
    };
    return has.every((kind) => tests[kind]());
}

/** Returns the time at which a day begins here, or null if the text is no day.
 * @param {string} text such as `2026-11-05`
 */
export function startOfDay(text) {
    const [, year, month, day] = /^(\d{4})-(\d\d?)-(\d\d?)$/.exec(text) ?? [];
    const date = new Date(Number(year), Number(month) - 1, Number(day));
    return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date.getTime() : null;
}

/** A search that continues page by page, newest first. */
export class Search {
    #chat;
    #query;
    #threadID;
    /** @type {string | number | null | undefined} */
    #page;
    isAtEnd = false;
    /** Whether the server could not be reached, so that only messages stored on this device were searched. */
    isOffline = false;
    /** The time of the oldest message that was looked at. @type {string | null} */
    until = null;

    /** @param {Chat} chat @param {Query} query @param {string | null} threadID null: all conversations, by words only */
    constructor(chat, query, threadID) {
        this.#chat = chat;
        this.#query = query;
        this.#threadID = threadID;
        this.#page = query.before && new Date(Number(startOfDay(query.before))).toISOString();
        if (query.words) this.#page = undefined;
    }

    /** Whether words are missing: without them, only one conversation can be searched. */
    get needsWords() {
        return !this.#query.words && !this.#threadID;
    }

    /** Returns the next messages, none if there are no more or many messages were looked at in vain.
     * @param {number} count
     * @returns {Promise<Found[]>} */
    async next(count) {
        /** @type {Found[]} */
        const found = [];
        const after = this.#query.after && startOfDay(this.#query.after);
        for (let requests = 0; requests < requestsMax && found.length < count && !this.isAtEnd; requests += 1) {
            const page = this.#query.words ? await this.#searched() : await this.#history();
            for (const each of page) if (matches(each.message, this.#query)) found.push(each);
            this.until = page.at(-1)?.message.timestamp ?? this.until;
            if (after && this.until && Date.parse(this.until) < after) this.isAtEnd = true;
        }
        return found;
    }

    /** @returns {Promise<Found[]>} */
    async #searched() {
        const options = { q: this.#query.words, thread: this.#threadID, limit: pageSize, page: this.#page };
        const request = this.#chat.http.get('/v1/search', options);
        // What the server has found is not found again on this device.
        const answer = await (this.#page ? request : request.catch(offline));
        if (!answer) return await this.#stored();
        const { results, next } = answer;
        this.#page = next;
        this.isAtEnd = !next;
        return results.map((/** @type {{message: Message, snippet: string}} */ { message, snippet }) => ({
            message,
            excerpt: snippet,
        }));
    }

    /** @returns {Promise<Found[]>} */
    async #stored() {
        this.isAtEnd = this.isOffline = true;
        return await this.#chat.searchStored(this.#query.words, this.#threadID ?? undefined);
    }

    /** @returns {Promise<Found[]>} */
    async #history() {
        const options = { before: this.#page, limit: historySize };
        const { messages } = await this.#chat.http.get(`/v1/threads/${this.#threadID}/messages`, options);
        this.#page = messages[0]?.seq;
        this.isAtEnd = messages.length === 0 || messages[0].seq <= 1;
        return messages.map((/** @type {Message} */ message) => ({ message, excerpt: null })).reverse();
    }
}
