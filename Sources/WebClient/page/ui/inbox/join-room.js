import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, showProblem } from '../parts/alert.js';
import { avatar } from '../parts/avatar.js';
import { openDialog } from '../parts/dialog.js';
import { goTo, threadAddress } from '../shell/router.js';

const pause = 200;
const roomsMax = 8;

/** Opens the dialog that joins a room by its title, and suggests rooms that exist.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function openJoinRoom(chat) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const title = element('input', {
        class: 'input',
        required: true,
        maxlength: 128,
        autocomplete: 'off',
        autofocus: true,
        oninput: () => {
            clearTimeout(timer);
            timer = setTimeout(suggest, pause);
        },
    });
    const rooms = element('ul', { class: 'people', role: 'list', 'aria-label': t('inbox.rooms') });
    const button = element('button', { class: 'button primary', type: 'submit' }, t('inbox.join'));
    const form = element(
        'form',
        {
            class: 'form',
            onsubmit: (/** @type {SubmitEvent} */ event) => {
                event.preventDefault();
                join(title.value.trim(), button);
            },
        },
        element('label', { class: 'field' }, t('inbox.roomTitle'), title),
        element('p', { class: 'hint' }, t('inbox.roomHint')),
        rooms,
        element('div', { class: 'actions' }, button),
    );
    const dialog = openDialog({ title: t('inbox.joinRoom') }, form);
    suggest();

    async function suggest() {
        const query = title.value.trim();
        try {
            const found = await chat.findRooms(query);
            if (query === title.value.trim()) fill(rooms, ...found.slice(0, roomsMax).map(suggestion));
        } catch (error) {
            if (dialog.open) showProblem(error);
        }
    }

    /** @param {Awaited<ReturnType<typeof chat.findRooms>>[number]} room */
    function suggestion(room) {
        const choose = element(
            'button',
            { class: 'choice', type: 'button', onclick: () => join(room.title, choose) },
            avatar({ id: room.id, name: room.title, image: null }, chat, 'small'),
            element('span', { class: 'person', dir: 'auto' }, room.title),
            element('span', { class: 'hint' }, t('inbox.members', { count: room.member_count })),
        );
        return element('li', {}, choose);
    }

    /**
     * @param {string} text
     * @param {HTMLElement} control
     */
    function join(text, control) {
        attempt(async () => {
            const thread = await chat.joinRoom(text);
            dialog.close();
            goTo(threadAddress(thread.id));
        }, control);
    }
}
