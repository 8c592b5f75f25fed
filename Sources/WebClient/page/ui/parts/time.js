// Times as people write them, in the page's language and the browser's time zone.

import { element } from '../dom.js';
import { formatDate, formatDay } from '../../language/index.js';

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
    const date = new Date(at);
    const days = daysFromToday(date);
    if (days === 0 || days === -1) return formatDay(days);
    if (days > -7 && days < 0) return formatDate(date, { weekday: 'long' });
    return formatDate(date, { weekday: 'long', day: 'numeric', month: 'long', ...yearUnlessThis(date) });
}

/** Formats a time as short as possible: the time of day, or the day.
 * @param {string} at RFC 3339
 */
export function shortTime(at) {
    const date = new Date(at);
    const days = daysFromToday(date);
    if (days === 0) return clockTime(at);
    if (days === -1) return formatDay(days);
    if (days > -7 && days < 0) return formatDate(date, { weekday: 'short' });
    return formatDate(date, { day: 'numeric', month: 'short', ...yearUnlessThis(date) });
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

/** Tells whether two times are on the same day.
 * @param {string} one RFC 3339
 * @param {string} other RFC 3339
 */
export function isSameDay(one, other) {
    return new Date(one).toDateString() === new Date(other).toDateString();
}

/** @param {Date} date */
function daysFromToday(date) {
    const midnight = (/** @type {Date} */ day) => Date.UTC(day.getFullYear(), day.getMonth(), day.getDate());
    return (midnight(date) - midnight(new Date())) / 86_400_000;
}

/** @param {Date} date
 * @returns {Intl.DateTimeFormatOptions} */
function yearUnlessThis(date) {
    return date.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' };
}
