// Buttons, fields, forms and rows of lists, as the dialogs use them.

import { Component, element, fill } from '../dom.js';
import { attempt } from './alert.js';
import { avatar } from './avatar.js';
import { openDialog } from './dialog.js';
import { icon } from './icon.js';

/** @import {ChatShape, Live} from '../../core/types.js' */
/** @import {Child} from '../dom.js' */

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

/** Builds a labelled input.
 * @param {string} label
 * @param {Record<string, unknown>} attributes of the input
 */
export function field(label, attributes) {
    return element('label', { class: 'field' }, label, element('input', { class: 'input', ...attributes }));
}

/** Builds a labelled checkbox.
 * @param {string} label
 * @param {Record<string, unknown>} attributes of the input
 */
export function checkbox(label, attributes) {
    return element('label', { class: 'choice' }, element('input', { type: 'checkbox', ...attributes }), label);
}

/** Builds a form with a button at its end. `action` gets the values by the names of the fields.
 * @param {Child[]} content
 * @param {string} label the button's
 * @param {(values: Record<string, string>) => unknown} action
 * @param {Child[]} [others] buttons before that one
 */
export function form(content, label, action, others = []) {
    const submit = element('button', { type: 'submit', class: 'button primary' }, label);
    const onsubmit = (/** @type {Event} */ event) => {
        event.preventDefault();
        const values = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(made)));
        attempt(() => action(values), submit);
    };
    const actions = element('div', { class: 'actions' }, ...others, submit);
    const made = element('form', { class: 'form', onsubmit }, ...content, actions);
    return made;
}

/** Opens a dialog with a form, which closes once its action has succeeded.
 * @param {string} title
 * @param {Child[]} content
 * @param {string} label the button's
 * @param {(values: Record<string, string>) => unknown} action
 * @param {Child[]} [others] buttons before that one
 */
export function openForm(title, content, label, action, others) {
    const made = form(content, label, async (values) => {
        await action(values);
        dialog.close();
    }, others);
    const dialog = openDialog({ title }, made);
    return dialog;
}

/** Builds a button across the width of a dialog.
 * @param {import('./icon.js').IconName} name
 * @param {string} label
 * @param {() => unknown} action
 * @param {string} [classes] `dangerous`
 */
export function row(name, label, action, classes = '') {
    const made = button('', action, '', { class: `row ${classes}` });
    made.append(icon(name), label);
    return made;
}

/** Builds a list.
 * @param {string} label
 * @param {HTMLElement[]} items
 */
export function list(label, items = []) {
    return element('ul', { class: 'people', role: 'list', 'aria-label': label }, items);
}

/** Builds what a row shows of a person, room or thread: picture, name, and facts in smaller type.
 * @param {Parameters<typeof avatar>[0]} subject
 * @param {ChatShape} chat
 * @param {(string | false | null | undefined)[]} facts
 * @returns {HTMLElement[]}
 */
export function profile(subject, chat, facts) {
    return [avatar(subject, chat, 'small'), words(subject.name, facts)];
}

/** Builds a name with facts behind it.
 * @param {string} name
 * @param {(string | false | null | undefined)[]} facts
 */
export function words(name, facts) {
    const hint = facts.filter((fact) => !!fact).join(' · ');
    return element(
        'span',
        { class: 'person' },
        element('span', { dir: 'auto' }, name),
        ' ',
        hint &&
            element('span', { class: 'hint' }, hint),
    );
}

class LiveElement extends Component {
    connected = () => {};

    connectedCallback() {
        this.connected();
    }
}

customElements.define('parley-live', LiveElement);

/** Builds an element whose children are `draw(value)`, now and after each change, while it is in the page.
 * @template T
 * @param {Live<T>} value
 * @param {(value: T) => Child[]} draw
 */
export function live(value, draw) {
    const made = new LiveElement();
    made.connected = () => made.follow(value, (value) => fill(made, ...draw(value)));
    return made;
}
