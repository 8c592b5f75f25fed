// Fields, forms and rows of lists, as the dialogs use them.

import { div, element, fill, words } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from './action.js';
import { avatar } from './avatar.js';
import { openDialog } from './dialog.js';
import { icon } from './icon.js';

/** @import {ChatShape} from '../../core/types.js' */
/** @import {Child} from '../dom.js' */
/** @import {Subject} from './avatar.js' */

/** Builds a labelled input.
 * @param {string} label
 * @param {Record<string, unknown>} attributes of the input
 */
export function field(label, attributes) {
    return labelled(label, element('input', { class: 'input', ...attributes }));
}

/** Builds a label around a control.
 * @param {string} label
 * @param {...Child} control
 */
export function labelled(label, ...control) {
    return element('label', { class: 'field' }, label, ...control);
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
    const made = element('form', { class: 'form', onsubmit }, ...content, div('actions', ...others, submit));
    return made;
}

/** Opens a dialog with a form, which closes once its action has succeeded. The action may return what comes after that:
 * until then the rest of the page can have no focus.
 * @param {string} title
 * @param {Child[]} content
 * @param {string} label the button's
 * @param {(values: Record<string, string>) => Promise<void | (() => void)>} action
 * @param {Child[]} [others] buttons before that one
 */
export function openForm(title, content, label, action, others) {
    const submit = async (/** @type {Record<string, string>} */ values) => {
        const after = await action(values);
        dialog.close();
        after?.();
    };
    const dialog = openDialog({ title }, form(content, label, submit, others));
    return dialog;
}

/** Builds a button across the width of a dialog.
 * @param {import('./icon.js').IconName} name
 * @param {string} label
 * @param {() => unknown} action
 * @param {string} [classes] `dangerous`
 */
export function row(name, label, action, classes = '') {
    const made = button(label, action, '', { class: `row ${classes}` });
    made.prepend(icon(name));
    return made;
}

/** Builds a list.
 * @param {string} label
 * @param {HTMLElement[]} items
 */
export function list(label, items = []) {
    return element('ul', { class: 'people', role: 'list', 'aria-label': label }, items);
}

/** Builds an item of a list about a person, room or device: a picture, a name, facts in smaller type, controls.
 * @param {Node} picture
 * @param {string} name
 * @param {(string | false | null | undefined)[]} facts
 * @param {...Child} controls
 */
export function item(picture, name, facts, ...controls) {
    return element('li', { class: 'person-row' }, picture, names(name, facts), ...controls);
}

/** Builds a name with facts behind it.
 * @param {string} name
 * @param {(string | false | null | undefined)[]} facts
 */
export function names(name, facts) {
    const hint = facts.filter((fact) => !!fact).join(' · ');
    return element('span', { class: 'person' }, words('', name), ' ', hint && words('hint', hint));
}

/** Builds a profile picture with buttons that replace and remove it. `onchange` gets the new picture, or null.
 * @param {Subject} subject
 * @param {ChatShape} chat
 * @param {(picture: File | null) => unknown} onchange
 */
export function pictureField(subject, chat, onchange) {
    const place = div('');
    const accept = 'image/jpeg,image/png,image/gif,image/webp';
    const input = element('input', {
        type: 'file',
        accept,
        hidden: true,
        onchange: () => pick(input.files?.[0] ?? null),
    });
    const remove = button(t('shell.removePicture'), () => pick(null), 'quiet');
    show(subject.image);
    return div('picture-field', place, button(t('shell.changePicture'), () => input.click()), remove, input);

    /** @param {File | null} picture */
    function pick(picture) {
        show(null);
        if (picture) {
            const src = URL.createObjectURL(picture);
            place.firstElementChild?.append(element('img', { alt: '', src, onload: () => URL.revokeObjectURL(src) }));
            remove.hidden = false;
        }
        input.value = '';
        return onchange(picture);
    }

    /** @param {string | null | undefined} image */
    function show(image) {
        fill(place, avatar({ ...subject, image }, chat, 'large'));
        remove.hidden = !image;
    }
}
