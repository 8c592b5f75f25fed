import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { openDialog } from '../parts/dialog.js';
import { PeoplePicker } from '../parts/people-picker.js';

/** Opens the dialog that adds people to a thread, or invites them.
 * @param {import('../../core/types.js').ChatShape} chat
 * @param {string} threadID
 * @param {import('../../core/types.js').Member[]} members they cannot be chosen again
 */
export function openAddPeople(chat, threadID, members) {
    const picker = new PeoplePicker(chat, new Set(members.map(({ user }) => user.id)), showNothingChosen);
    const add = button('details.add', 'button primary', 'joined');
    const invite = button('details.invite', 'button', 'invited');
    const dialog = openDialog(
        { title: t('details.addPeople') },
        picker.element,
        element('p', { class: 'hint' }, t('details.inviteHint')),
        element('div', { class: 'actions' }, invite, add),
    );
    showNothingChosen();

    function showNothingChosen() {
        add.disabled = invite.disabled = picker.chosen.length === 0;
    }

    /**
     * @param {string} label
     * @param {string} className
     * @param {'joined' | 'invited'} status
     */
    function button(label, className, status) {
        const made = element('button', {
            class: className,
            type: 'button',
            onclick: () =>
                attempt(async () => {
                    for (const { id } of picker.chosen) await chat.setMember(threadID, id, { status });
                    dialog.close();
                }, made),
        }, t(label));
        return made;
    }
}
