import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { openDialog } from '../parts/dialog.js';
import { PeoplePicker } from '../parts/people-picker.js';
import { goTo, threadAddress } from '../shell/router.js';

/** Opens the dialog that starts a conversation: a direct one with one person and no title, else a group.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function openNewConversation(chat) {
    const title = element('input', { class: 'input', maxlength: 128, autocomplete: 'off', oninput: describe });
    const hint = element('p', { class: 'hint', role: 'status' });
    const start = element('button', { class: 'button primary', type: 'submit' }, t('inbox.start'));
    const picker = new PeoplePicker(chat, new Set(), describe);
    const form = element(
        'form',
        { class: 'form', onsubmit: submit },
        picker.element,
        element('label', { class: 'field' }, t('inbox.title'), title),
        hint,
        element('div', { class: 'actions' }, start),
    );
    const dialog = openDialog({ title: t('inbox.newConversation') }, form);
    describe();

    function describe() {
        const { length } = picker.chosen;
        const isDirect = length === 1 && title.value.trim() === '';
        hint.textContent = length === 0 && title.value.trim() === ''
            ? t('inbox.chooseSomebody')
            : isDirect
            ? t('inbox.startsDirect', { name: picker.chosen[0].name })
            : t('inbox.startsGroup', { count: length + 1 });
    }

    /** @param {SubmitEvent} event */
    function submit(event) {
        event.preventDefault();
        const members = picker.chosen.map(({ id }) => id);
        const text = title.value.trim();
        if (members.length === 0 && text === '') return;
        attempt(async () => {
            const thread = await chat.createThread(
                members.length === 1 && text === ''
                    ? { kind: 'direct', members }
                    : { kind: 'group', members, title: text || groupTitle() },
            );
            dialog.close();
            goTo(threadAddress(thread.id));
        }, start);
    }

    function groupTitle() {
        const names = [chat.me.value ?? chat.session.value?.user, ...picker.chosen].map((person) => person?.name ?? '');
        return [...names.join(', ')].slice(0, 128).join('');
    }
}
