// What a user does: an action that may take a while or fail, the buttons that begin one, and the parts of the page that it
// needs.

import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { hideProblem, problemSession, showProblem } from './alert.js';
import { icon } from './icon.js';

const laterMilliseconds = 300;

/** Runs an action of the user. The control is busy meanwhile and ignores clicks; an error is shown.
 * @param {() => unknown} action may return a promise
 * @param {HTMLElement | null} [control]
 * @param {(error: unknown) => void} [show] shows an error
 * @returns {Promise<boolean>} whether it succeeded
 */
export async function attempt(action, control, show = showProblem) {
    if (control?.getAttribute('aria-disabled') === 'true') return false;
    control?.setAttribute('aria-disabled', 'true');
    const session = problemSession();
    try {
        await action();
        hideProblem();
        return true;
    } catch (error) {
        if (session === problemSession()) show(error);
        return false;
    } finally {
        control?.removeAttribute('aria-disabled');
    }
}

/** Waits for a part of the page that is loaded when it is first needed, so that the first page is small. Use it within
 * `attempt`: it rejects with a text for the user.
 * @template Module
 * @param {Promise<Module>} loading such as `import('../settings/settings.js')`
 */
export async function loaded(loading) {
    try {
        return await loading;
    } catch (error) {
        console.error(error);
        throw t('shell.notLoaded');
    }
}

/** Loads what the mouse, the finger and the keys need soon: after the messages are shown, because it would delay them. Without
 * it the page still works.
 * @template Module
 * @param {() => Promise<Module>} load
 * @param {(module: Module) => void} use
 */
export function later(load, use) {
    setTimeout(() => load().then(use, (error) => console.warn('a part was not loaded', error)), laterMilliseconds);
}

/** Builds a button. While its action runs it ignores clicks; an error is shown.
 * @param {string} label
 * @param {() => unknown} action
 * @param {string} [classes] `primary`, `quiet`, `danger`, `warn`
 * @param {Record<string, unknown>} [attributes]
 */
export function button(label, action, classes = '', attributes = {}) {
    const onclick = () => attempt(action, made);
    const made = element('button', { type: 'button', class: `button ${classes}`, onclick, ...attributes }, label);
    return made;
}

/** Builds a button that shows an icon and is named by `label`, which is also its tooltip. While its action runs it ignores
 * clicks; an error is shown.
 * @param {import('./icon.js').IconName} name
 * @param {string} label
 * @param {() => void} action may return a promise
 * @param {Record<string, unknown>} [attributes]
 */
export function iconButton(name, label, action, attributes = {}) {
    const onclick = () => attempt(action, made);
    const names = { 'aria-label': label, title: label };
    const made = element(
        'button',
        { type: 'button', class: 'icon-button', onclick, ...names, ...attributes },
        icon(name),
    );
    return made;
}
