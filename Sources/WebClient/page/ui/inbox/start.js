// The dialog that begins a conversation with people. rooms.js has the one of rooms.

import * as requests from '../../core/requests.js';
import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { labelled, openForm } from '../parts/controls.js';
import { peoplePicker } from '../parts/people-picker.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

/** Opens the dialog that starts a conversation: a direct one with one person and no title, else a group.
 * @param {ChatShape} chat
 */
export function openNewConversation(chat) {
    /** @type {Person[]} */
    let people = [];
    const hint = element('p', { class: 'hint', role: 'status' });
    const title = element('input', { class: 'input', maxlength: 128, autocomplete: 'off', oninput: describe });
    const picker = peoplePicker(chat, new Set(), (chosen) => {
        people = chosen;
        describe();
    });
    describe();
    openForm(
        t('inbox.newConversation'),
        [picker, labelled(t('inbox.title'), title), hint],
        t('inbox.start'),
        async () => {
            if (kind() === 'nothing') throw t('inbox.chooseSomebody');
            const members = people.map(({ id }) => id);
            const group = { kind: /** @type {const} */ ('group'), members, title: title.value.trim() || allNames() };
            const { id } = await requests.createThread(chat, kind() === 'direct' ? { kind: 'direct', members } : group);
            return () => writeIn(id);
        },
    );

    function kind() {
        if (title.value.trim()) return 'group';
        return (/** @type {const} */ (['nothing', 'direct']))[people.length] ?? 'group';
    }

    function describe() {
        const texts = {
            nothing: () => t('inbox.chooseSomebody'),
            direct: () => t('inbox.startsDirect', { name: people[0].name }),
            group: () => t('inbox.startsGroup', { count: people.length + 1 }),
        };
        hint.textContent = texts[kind()]();
    }

    function allNames() {
        const own = (chat.me.value ?? chat.session.value?.user)?.name ?? '';
        return [own, ...people.map(({ name }) => name)].join(', ').slice(0, 128);
    }
}
