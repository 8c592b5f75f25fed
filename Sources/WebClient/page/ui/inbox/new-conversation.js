import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { field, openForm } from '../parts/controls.js';
import { peoplePicker } from '../parts/people-picker.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

/** Opens the dialog that starts a conversation: a direct one with one person and no title, else a group.
 * @param {ChatShape} chat
 */
export function openNewConversation(chat) {
    /** @type {Person[]} */
    let people = [];
    let title = '';
    const hint = element('p', { class: 'hint', role: 'status' });
    const picker = peoplePicker(chat, new Set(), (chosen) => {
        people = chosen;
        describe();
    });
    const titleField = field(t('inbox.title'), {
        maxlength: 128,
        autocomplete: 'off',
        oninput: (/** @type {{target: HTMLInputElement}} */ { target }) => {
            title = target.value.trim();
            describe();
        },
    });
    describe();
    openForm(t('inbox.newConversation'), [picker, titleField, hint], t('inbox.start'), async () => {
        if (people.length === 0 && !title) throw t('inbox.chooseSomebody');
        const members = people.map(({ id }) => id);
        const thread = await chat.createThread(
            isDirect() ? { kind: 'direct', members } : { kind: 'group', members, title: title || names() },
        );
        queueMicrotask(() => writeIn(thread.id));
    });

    function isDirect() {
        return people.length === 1 && !title;
    }

    function describe() {
        if (isDirect()) hint.textContent = t('inbox.startsDirect', { name: people[0].name });
        else if (people.length === 0 && !title) hint.textContent = t('inbox.chooseSomebody');
        else hint.textContent = t('inbox.startsGroup', { count: people.length + 1 });
    }

    function names() {
        const all = [chat.me.value ?? chat.session.value?.user, ...people].map((person) => person?.name ?? '');
        return [...all.join(', ')].slice(0, 128).join('');
    }
}
