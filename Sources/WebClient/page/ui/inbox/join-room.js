import { element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, showProblem } from '../parts/alert.js';
import { field, list, openForm, profile } from '../parts/controls.js';
import { writeIn } from '../shell/router.js';

const pause = 200;
const roomsMax = 8;

/** Opens the dialog that joins a room by its title, and suggests rooms that exist.
 * @param {import('../../core/types.js').ChatShape} chat
 */
export function openJoinRoom(chat) {
    let query = '';
    const title = field(t('inbox.roomTitle'), {
        name: 'title',
        required: true,
        maxlength: 128,
        autocomplete: 'off',
        autofocus: true,
        oninput: (/** @type {{target: HTMLInputElement}} */ { target }) => {
            query = target.value;
            setTimeout(suggest, pause, query);
        },
    });
    const rooms = list(t('inbox.rooms'));
    const hint = element('p', { class: 'hint' }, t('inbox.roomHint'));
    const dialog = openForm(
        t('inbox.joinRoom'),
        [title, hint, rooms],
        t('inbox.join'),
        ({ title }) => join(title.trim()),
    );
    suggest(query);

    /** @param {string} text what was in the field a moment ago */
    async function suggest(text) {
        if (text !== query) return;
        try {
            const found = await chat.findRooms(text.trim());
            if (text === query) fill(rooms, ...found.slice(0, roomsMax).map(suggestion));
        } catch (error) {
            if (dialog.open) showProblem(error);
        }
    }

    /** @param {Awaited<ReturnType<typeof chat.findRooms>>[number]} room */
    function suggestion({ id, title, member_count: count }) {
        const onclick = () => attempt(() => join(title), choice);
        const parts = profile({ id, name: title, image: null }, chat, [t('inbox.members', { count })]);
        const choice = element('button', { class: 'choice', type: 'button', onclick }, parts);
        return element('li', {}, choice);
    }

    /** @param {string} title */
    async function join(title) {
        const { id } = await chat.joinRoom(title);
        dialog.close();
        writeIn(id);
    }
}
