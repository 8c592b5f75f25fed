// The dialogs that begin a conversation: with people, or by joining a room.

import * as requests from '../../core/requests.js';
import { element, fill, p } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { avatar } from '../parts/avatar.js';
import { labelled, list, names, openForm } from '../parts/controls.js';
import { peoplePicker } from '../parts/people-picker.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Person} from '../../core/types.js' */

const pause = 200;
const roomsMax = 8;

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

/** Opens the dialog that joins a room by its title, and suggests rooms that exist.
 * @param {ChatShape} chat
 */
export function openJoinRoom(chat) {
    const title = element('input', {
        class: 'input',
        required: true,
        maxlength: 128,
        autocomplete: 'off',
        oninput: () => setTimeout(suggest, pause, title.value),
    });
    const rooms = list(t('inbox.rooms'));
    const content = [labelled(t('inbox.roomTitle'), title), p('hint', t('inbox.roomHint')), rooms];
    const dialog = openForm(t('inbox.joinRoom'), content, t('inbox.join'), () => join(title.value));
    title.focus();
    suggest('');

    /** @param {string} text what was in the field a moment ago */
    async function suggest(text) {
        if (text !== title.value) return;
        try {
            const found = await requests.findRooms(chat, text.trim());
            if (text === title.value) fill(rooms, ...found.slice(0, roomsMax).map(suggestion));
        } catch (error) {
            if (dialog.open) showProblem(error);
        }
    }

    /** @param {Awaited<ReturnType<typeof requests.findRooms>>[number]} room */
    function suggestion({ id, title: name, member_count: count }) {
        const onclick = () => attempt(() => join(name), choice);
        const parts = [avatar({ id, name }, chat, 'small'), names(name, [t('inbox.members', { count })])];
        const choice = element('button', { class: 'choice', type: 'button', onclick }, parts);
        return element('li', {}, choice);
    }

    /** @param {string} text */
    async function join(text) {
        const { id } = await requests.joinRoom(chat, text.trim());
        dialog.close();
        writeIn(id);
    }
}
