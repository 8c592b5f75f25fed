// The textbox in which a message is changed.

import { div, element } from '../dom.js';
import { attempt } from '../parts/action.js';
import { t } from '../../language/index.js';
import { growWithText } from './composer.js';

/** Builds the editor of a message's text.
 * @param {import('../../core/types.js').Message} message
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {() => void} onclose called once it was saved or given up
 */
export function editor(message, chat, onclose) {
    const text = String(message.payload?.text ?? '');
    const save = async (/** @type {string} */ changed) => {
        if (!await chat.edit(message, changed)) throw t('conversation.editPending');
    };
    const textarea = element('textarea', {
        class: 'input',
        rows: 1,
        dir: 'auto',
        'aria-label': t('conversation.editMessage'),
        value: text,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            if (event.isComposing) return;
            if (event.key === 'Enter' && !event.shiftKey) form.requestSubmit();
            else if (event.key === 'Escape') onclose();
            else return;
            event.preventDefault();
            event.stopPropagation();
        },
    });
    const submit = element('button', { type: 'submit', class: 'button primary small' }, t('conversation.save'));
    const form = element(
        'form',
        {
            class: 'editor',
            onsubmit: async (/** @type {SubmitEvent} */ event) => {
                event.preventDefault();
                const changed = textarea.value.trim();
                if (!changed) return textarea.focus();
                if (changed === text || await attempt(() => save(changed), submit)) onclose();
            },
        },
        textarea,
        div(
            'actions',
            element('button', { type: 'button', class: 'button small', onclick: onclose }, t('shell.cancel')),
            submit,
        ),
    );
    growWithText(textarea);
    return form;
}
