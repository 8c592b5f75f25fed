// The one place that shows errors.

import { element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { icon } from './icon.js';

/** @type {HTMLElement | null} */
let shown = null;

/** Shows an error in an `alert`: the detail of a problem document, or the text itself. It replaces the one before. An
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
    if (isOffline(error)) return t('shell.noConnection');
    // What the browser refuses: its store has no room, or fails.
    if (error instanceof DOMException) return t('shell.browserRefused', { reason: error.message });
    const { detail, errors } = /** @type {Partial<import('../../core/types.js').ProblemShape>} */ (error ?? {});
    if (!detail) console.error(error);
    const fields = errors?.map((each) => each.detail).filter((each) => each && each !== detail) ?? [];
    return [detail ?? t('shell.unexpected'), ...fields].join(' ');
}

/** @param {unknown} error */
function isOffline(error) {
    return error instanceof Error && 'status' in error && error.status === 0;
}
