// Fields, forms and rows of lists, as the dialogs use them.

import { div, element, fill, words } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from './action.js';
import { fieldText, problemText, showProblem } from './alert.js';
import { avatar } from './avatar.js';
import { openDialog } from './dialog.js';
import { icon } from './icon.js';

/** @import {ChatShape} from '../../core/types.js' */
/** @import {Child} from '../dom.js' */
/** @import {Subject} from './avatar.js' */
/** @typedef {import('../../core/types.js').Refusal} Refusal */

/** The fields that these refusals are about. @type {Record<string, string>} */
const fields = {
    invitation_invalid: 'invitation',
    invitation_required: 'invitation',
    title_taken: 'title',
    username_taken: 'username',
    wrong_code: 'code',
    wrong_password: 'current',
};

let count = 0;

/** Builds a labelled input.
 * @param {Child} label
 * @param {Record<string, unknown>} attributes of the input; `hint` is a text below it
 */
export function field(label, { hint, ...attributes }) {
    const input = element('input', { class: 'input', ...attributes });
    const made = labelled(label, input);
    if (typeof hint !== 'string') return made;
    const id = input.dataset.hint = `hint-${count += 1}`;
    input.setAttribute('aria-describedby', id);
    return div('field-with-hint', made, element('p', { class: 'hint', id }, hint));
}

/** Builds a label around a control.
 * @param {Child} label
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

/** Builds a form with a button at its end. `action` gets the values by the names of the fields. What the page knows to be wrong
 * is said at the field and not sent: a field may have a function `check`, which returns a text, empty if all is well. A
 * refusal of the server is shown at the fields that it names.
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
        if (showFieldProblems(made, findProblems(made))) return;
        attempt(() => action(values), submit, (error) => showRefusal(made, error));
    };
    const made = element(
        'form',
        { class: 'form', novalidate: true, onsubmit },
        ...content,
        div('actions', ...others, submit),
    );
    return made;
}

/** Returns what the page knows to be wrong.
 * @param {HTMLFormElement} form
 */
export function findProblems(form) {
    return inputs(form).map((input) => {
        const text = input.required && !input.value.trim() ? t('problem.required') : input.check?.(input.value) ?? '';
        return { field: input.name, text };
    }).filter(({ text }) => text !== '');
}

/** Shows texts at the fields with these names, in place of those before, and moves the focus to the first.
 * @param {HTMLFormElement} form
 * @param {{field: string, text: string}[]} problems
 * @returns {boolean} whether there are any
 */
export function showFieldProblems(form, problems) {
    for (const text of form.querySelectorAll('.field-problem')) text.remove();
    let isFirst = true;
    for (const input of inputs(form)) {
        const problem = problems.find(({ field }) => field === input.name);
        input.removeAttribute('aria-invalid');
        if (input.dataset.hint) input.setAttribute('aria-describedby', input.dataset.hint);
        else input.removeAttribute('aria-describedby');
        if (!problem) continue;
        const id = `problem-${count += 1}`;
        const text = element('p', { class: 'field-problem', id, role: isFirst && 'alert' }, problem.text);
        input.setAttribute('aria-invalid', 'true');
        input.setAttribute('aria-describedby', id);
        (input.closest('.field') ?? input).after(text);
        if (isFirst) input.focus();
        isFirst = false;
    }
    return !isFirst;
}

/** Shows a refusal at the fields that it names, else as an alert.
 * @param {HTMLFormElement} form
 * @param {unknown} error
 */
export function showRefusal(form, error) {
    const isRefusal = error instanceof Error && 'errors' in error;
    const problems = isRefusal ? fieldProblems(/** @type {any} */ (error)) : [];
    const names = inputs(form).map(({ name }) => name);
    const isEachShown = problems.length > 0 && problems.every(({ field }) => names.includes(field));
    if (!isEachShown || !showFieldProblems(form, problems)) showProblem(error);
}

/** Returns the fields that a refusal names, each with its text.
 * @param {Refusal} problem
 * @returns {{field: string, text: string}[]}
 */
function fieldProblems(problem) {
    const { code, errors } = problem;
    if (code in fields) return [{ field: fields[code], text: problemText(problem) }];
    return errors.map((error) => ({ field: error.field, text: fieldText(error) }));
}

/** @param {HTMLFormElement} form
 * @returns {(HTMLInputElement & {check?: (value: string) => string})[]} */
function inputs(form) {
    return [...form.querySelectorAll('input')].filter(({ name, disabled }) => name !== '' && !disabled);
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
