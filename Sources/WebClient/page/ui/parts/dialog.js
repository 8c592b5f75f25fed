// Dialogs on the native element: the rest of the page is inert, Escape closes the topmost, the focus returns.

import { div, element, p } from '../dom.js';
import { iconButton } from './action.js';
import { t } from '../../language/index.js';

let made = 0;

/** Opens a modal dialog that has `title` as its heading and name. It leaves the page when it is closed.
 * The first element with `autofocus` gets the focus, else the first that can.
 * @param {{title: string, class?: string, role?: 'alertdialog', onclose?: () => void}} options an `alertdialog` has no
 * button "Close": it must have other buttons that close it
 * @param {...import('../dom.js').Child} content
 * @returns {HTMLDialogElement}
 */
export function openDialog(options, ...content) {
    const titleID = `dialog-${made += 1}`;
    const body = div('dialog-content', ...content);
    const dialog = element(
        'dialog',
        { class: `dialog ${options.class ?? ''}`.trim(), role: options.role, 'aria-labelledby': titleID },
        element(
            'header',
            { class: 'dialog-header' },
            element('h2', { id: titleID }, options.title),
            options.role !== 'alertdialog' && iconButton('close', t('shell.close'), () => dialog.close()),
        ),
        body,
    );
    dialog.addEventListener('keydown', (event) => {
        // A search field would keep the key to clear itself.
        if (event.key !== 'Escape' || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        dialog.close();
    });
    dialog.addEventListener('close', () => {
        dialog.remove();
        options.onclose?.();
    });
    document.body.append(dialog);
    dialog.showModal();
    // A long text without controls is scrolled by keys.
    if (body.scrollHeight > body.clientHeight && !body.querySelector('a, button, input, select')) body.tabIndex = 0;
    return dialog;
}

/** Asks a question that has two answers. Its buttons are `action` and "Cancel".
 * @param {{title: string, text: string, action: string}} question
 * @returns {Promise<boolean>} whether the user chose `action`
 */
export function confirm({ title, text, action }) {
    return new Promise((resolve) => {
        let isConfirmed = false;
        const answer = (/** @type {boolean} */ value) => () => {
            isConfirmed = value;
            dialog.close();
        };
        const type = 'button';
        const dialog = openDialog(
            { title, role: 'alertdialog', class: 'question', onclose: () => resolve(isConfirmed) },
            p('', text),
            div(
                'actions',
                element(
                    'button',
                    { type, class: 'button', autofocus: true, onclick: answer(false) },
                    t('shell.cancel'),
                ),
                element('button', { type, class: 'button danger', onclick: answer(true) }, action),
            ),
        );
    });
}
