// The one place that shows errors, and what a refusal of the server means in the language of the page.

import { element, p } from '../dom.js';
import { formatDuration, has, t } from '../../language/index.js';
import { icon } from './icon.js';

/** @typedef {import('../../core/types.js').Refusal} Refusal */

/** @type {HTMLElement | null} */
let shown = null;
/** Counts sessions: problems of an earlier one are not shown. */
let session = 0;

/** The session to which an action belongs that begins now. */
export function problemSession() {
    return session;
}

/** A session has begun or ended: nothing that failed before is shown. */
export function forgetProblems() {
    session += 1;
    hideProblem();
}

/** Shows an error in an `alert`: what a problem document means, or the text itself. It replaces the one before. An
 * open dialog makes the rest of the page inert, so the alert then is in the dialog.
 * @param {unknown} error
 */
export function showProblem(error) {
    hideProblem();
    const place = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body;
    const dismiss = { type: 'button', 'aria-label': t('shell.dismiss'), title: t('shell.dismiss') };
    shown = element(
        'div',
        { class: 'alert', role: 'alert' },
        p('', describe(error)),
        element('button', { class: 'icon-button', ...dismiss, onclick: hideProblem }, icon('close')),
    );
    if (isOffline(error)) shown.dataset.offline = '';
    place.append(shown);
}

/** Removes the alert. */
export function hideProblem() {
    shown?.remove();
    shown = null;
}

/** Removes the alert if it says that the server could not be reached. */
export function hideConnectionProblem() {
    if (shown?.dataset.offline === '') hideProblem();
}

/** @param {unknown} error */
function describe(error) {
    if (typeof error === 'string') return error;
    // What the browser refuses: its store has no room, or fails.
    if (error instanceof DOMException) return t('shell.browserRefused', { reason: error.message });
    if (error instanceof Error && 'code' in error) {
        return problemText(/** @type {any} */ (error));
    }
    console.error(error);
    return t('shell.unexpected');
}

/** @param {unknown} error */
function isOffline(error) {
    return error instanceof Error && 'status' in error && error.status === 0;
}

/** Returns what a refusal says. A code that the page does not know, such as one of the operator's policy, has the server's
 * words.
 * @param {Refusal & {status?: number, retryAfter?: number | null}} problem
 * @returns {string}
 */
export function problemText(problem) {
    const { code, detail, errors, status = 0, retryAfter } = problem;
    if (code === 'invalid' && errors.length > 0) return errors.map(fieldText).join(' ');
    const key = `problem.${code}`;
    if (has(key)) return t(key, { time: formatDuration(retryAfter ?? 1, 'second') });
    return status >= 500 ? t('problem.server') : detail;
}

/** Returns the rule of a field.
 * @param {{field: string, detail: string}} error
 */
export function fieldText({ field, detail }) {
    const key = `problem.field.${field}`;
    return has(key) ? t(key) : detail;
}
