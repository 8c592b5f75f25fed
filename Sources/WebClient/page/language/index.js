// The texts of the page, in the first of the browser's languages that has a file in this folder, else in English.

/** A text, or its plural forms by CLDR category (`one`, `few`, `other`, …), chosen by the value `count`.
 * @typedef {string | {other: string, [category: string]: string}} Text
 */

/** @type {Record<string, Text>} */
let texts = {};
let locale = 'en';
let plurals = new Intl.PluralRules(locale);
let numbers = new Intl.NumberFormat(locale);
/** @type {Map<string, Intl.DateTimeFormat>} */
const dateFormats = new Map();

/** Loads the texts and returns their language, such as `de`.
 * @param {readonly string[]} wanted language tags, the preferred one first
 * @returns {Promise<string>}
 */
export async function loadLanguage(wanted) {
    for (const tag of [...wanted, 'en']) {
        const read = await readTexts(languageOf(tag));
        if (!read) continue;
        locale = tag;
        texts = read;
        break;
    }
    plurals = new Intl.PluralRules(locale);
    numbers = new Intl.NumberFormat(locale);
    dateFormats.clear();
    return languageOf(locale);
}

/** Returns null if there is no file of the language.
 * @param {string} language
 * @returns {Promise<Record<string, Text> | null>}
 */
async function readTexts(language) {
    try {
        const answer = await fetch(new URL(`${language}.json`, import.meta.url));
        return answer.ok ? await answer.json() : null;
    } catch {
        // Offline, the service worker has the files that exist.
        return null;
    }
}

/** Returns the direction of the language's writing.
 * @returns {'ltr' | 'rtl'}
 */
export function direction() {
    return t('shell.direction') === 'rtl' ? 'rtl' : 'ltr';
}

/** Returns the text under `key`, with each `{name}` replaced by its value. An unknown key returns itself.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
    const text = texts[key] ?? key;
    const form = typeof text === 'string' ? text : text[plurals.select(Number(values.count))] ?? text.other;
    return form.replace(/\{(\w+)\}/g, (place, name) => {
        const value = values[name];
        if (typeof value === 'number') return formatNumber(value);
        return value === undefined ? place : isolate(value);
    });
}

/** Whether there is a text under `key`.
 * @param {string} key
 */
export function has(key) {
    return key in texts;
}

/** @param {number} value */
export function formatNumber(value) {
    return numbers.format(value);
}

/** Formats a number of bytes, such as "1.4 MB".
 * @param {number} bytes
 */
export function formatSize(bytes) {
    const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
    const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
    return new Intl.NumberFormat(locale, {
        style: 'unit',
        unit: units[power],
        unitDisplay: power === 0 ? 'long' : 'short',
        maximumFractionDigits: power === 0 ? 0 : 1,
    }).format(bytes / 1000 ** power);
}

/** Formats a length of time, such as "7 days".
 * @param {number} value
 * @param {'second' | 'hour' | 'day'} unit
 */
export function formatDuration(value, unit) {
    return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** Formats names as a list, such as "Ann, Ben and Cleo".
 * @param {string[]} names
 */
export function formatList(names) {
    return new Intl.ListFormat(locale).format(names);
}

/** Joins facts, such as "Ann, 3 unread, 10:39".
 * @param {(string | false | null | undefined)[]} facts those that are empty are left out
 */
export function formatFacts(facts) {
    const shown = /** @type {string[]} */ (facts.filter((fact) => typeof fact === 'string' && fact !== ''));
    // Not isolated: the result is for screen readers, and begins with the first fact.
    const join = (/** @type {string} */ one, /** @type {string} */ other) =>
        t('notice.pair').replace(/\{(one|other)\}/g, (_, place) => place === 'one' ? one : other);
    return shown.length === 0 ? '' : shown.reduce(join);
}

/** @param {number} days 0: today, -1: yesterday */
export function formatDay(days) {
    const words = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(days, 'day');
    return words.charAt(0).toLocaleUpperCase(locale) + words.slice(1);
}

/**
 * @param {Date} date
 * @param {Intl.DateTimeFormatOptions} options
 */
export function formatDate(date, options) {
    const key = JSON.stringify(options);
    let format = dateFormats.get(key);
    if (!format) dateFormats.set(key, format = new Intl.DateTimeFormat(locale, options));
    return format.format(date);
}

/** Keeps a name in Latin letters from reordering the Arabic text around it.
 * @param {string} value
 */
function isolate(value) {
    return direction() === 'rtl' ? `\u2068${value}\u2069` : value;
}

/** @param {string} tag */
function languageOf(tag) {
    return tag.split('-')[0].toLowerCase();
}
