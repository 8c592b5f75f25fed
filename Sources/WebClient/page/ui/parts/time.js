// Times as people write them, in the page's language and the browser's time zone.

import { element } from '../dom.js';
import { formatDate, formatDay, t } from '../../language/index.js';

/** Formats the time of day, such as "14:05".
 * @param {string} at RFC 3339
 */
export function clockTime(at) {
    return formatDate(new Date(at), { hour: 'numeric', minute: '2-digit' });
}

/** Formats a day: "Today", "Yesterday", "Monday" within a week, else the date.
 * @param {string} at RFC 3339
 */
export function dayName(at) {
    return relativeDay(new Date(at), { weekday: 'long' }, { weekday: 'long', day: 'numeric', month: 'long' });
}

/** Formats a time as short as possible: the time of day, or the day.
 * @param {string} at RFC 3339
 */
export function shortTime(at) {
    const date = new Date(at);
    if (daysFromToday(date) === 0) return clockTime(at);
    return relativeDay(date, { weekday: 'short' }, { day: 'numeric', month: 'short' });
}

/** Formats date and time in full.
 * @param {string} at RFC 3339
 */
export function fullTime(at) {
    return formatDate(new Date(at), { dateStyle: 'full', timeStyle: 'short' });
}

/** Builds a `time` element that shows `text`, with the full time as its tooltip.
 * @param {string} at RFC 3339
 * @param {string} text
 */
export function timeElement(at, text) {
    return element('time', { datetime: at, title: fullTime(at) }, text);
}

/** Returns "Online", "Last seen …", or an empty text if nothing is known.
 * @param {{presence?: string | null, last_seen_at?: string | null}} person
 */
export function presenceText({ presence, last_seen_at: lastSeen }) {
    if (presence === 'online') return t('shell.online');
    return lastSeen ? t('shell.lastSeen', { time: shortTime(lastSeen) }) : '';
}

/** @param {Date} date */
function daysFromToday(date) {
    const midnight = (/** @type {Date} */ day) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
    return (midnight(date) - midnight(new Date())) / 86_400_000;
}

/**
 * @param {Date} date
 * @param {Intl.DateTimeFormatOptions} thisWeek
 * @param {Intl.DateTimeFormatOptions} before
 */
function relativeDay(date, thisWeek, before) {
    const days = daysFromToday(date);
    if (days === 0 || days === -1) return formatDay(days);
    if (days < 0 && days > -7) return formatDate(date, thisWeek);
    const isThisYear = date.getFullYear() === new Date().getFullYear();
    return formatDate(date, isThisYear ? before : { ...before, year: 'numeric' });
}
