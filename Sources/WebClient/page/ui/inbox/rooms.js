// The directory of rooms: what they are about, joining one, and creating another.

import * as requests from '../../core/requests.js';
import { normal } from '../../text/match.js';
import { isAlmost } from '../../text/typos.js';
import { div, element, fill, p, words } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button } from '../parts/action.js';
import { showProblem } from '../parts/alert.js';
import { avatar } from '../parts/avatar.js';
import { field, labelled, list, names, openForm } from '../parts/controls.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Room} from '../../core/types.js' */

const pause = 200;

/** Opens the directory. A click on a room shows what it is about; joining is a second step.
 * @param {ChatShape} chat
 */
export function openRooms(chat) {
    const title = element('input', {
        class: 'input',
        required: true,
        maxlength: 128,
        autocomplete: 'off',
        oninput: () => {
            tried = null;
            setTimeout(find, pause, title.value);
        },
    });
    const note = element('p', { class: 'hint', role: 'status' });
    const rooms = list(t('inbox.rooms'));
    const more = button(t('conversation.more'), () => load(title.value), 'small', { hidden: true });
    /** The next page of the rooms that are shown. @type {string | null | undefined} */
    let page;
    /** Counts what was asked for: an answer that is overtaken shows nothing. */
    let asked = 0;
    /** The title that "Join" looked up: a search that was about to begin does not replace its rooms. @type {string | null} */
    let tried = null;
    const create = button(t('inbox.createRoom'), () => {
        dialog.close();
        openCreateRoom(chat, title.value.trim());
    });
    const content = [labelled(t('inbox.roomTitle'), title), note, div('directory', rooms, more)];
    const dialog = openForm(t('inbox.joinRoom'), content, t('inbox.join'), () => joinByTitle(title.value.trim()), [
        create,
    ]);
    title.focus();
    void find('');

    /** @param {string} text what was in the field a moment ago */
    async function find(text) {
        if (text !== title.value || text.trim() === tried) return;
        page = undefined;
        note.textContent = '';
        try {
            await load(text);
        } catch (error) {
            if (dialog.open) showProblem(error);
        }
    }

    /** @param {string} text */
    async function load(text) {
        const isFirst = !page;
        const turn = asked += 1;
        const { rooms: found, next } = await requests.findRooms(chat, text, page);
        if (turn !== asked) return;
        if (isFirst) fill(rooms);
        rooms.append(...found.map((room) => roomItem(room)));
        page = next;
        more.hidden = !next;
        if (!rooms.firstChild) note.textContent = t(text.trim() ? 'inbox.noSuchRoom' : 'inbox.noRooms');
    }

    /** Joins the room of a title. A title that is almost that of a room is a mistake and makes no room.
     * @param {string} text
     */
    async function joinByTitle(text) {
        tried = text;
        const [{ rooms: named }, { rooms: begun }] = await Promise.all([
            requests.findRooms(chat, text),
            requests.findRooms(chat, [...text].slice(0, 2).join('')),
        ]);
        const isKnown = named.some((room) => normal(room.title) === normal(text));
        const close = isKnown ? [] : [...named, ...begun.filter((room) => isAlmost(room.title, text))];
        asked += 1;
        if (close.length > 0) {
            fill(rooms, ...close.map((room) => roomItem(room)));
            more.hidden = true;
            note.textContent = '';
            throw t('inbox.chooseRoom', { title: text });
        }
        const { id } = await requests.joinRoom(chat, text);
        return () => writeIn(id);
    }

    /** @param {Room} room */
    function roomItem({ id, title: name, topic, image, member_count: count }) {
        const isMember = (chat.inbox.value?.threads ?? []).some((thread) =>
            thread.id === id && thread.me.status === 'joined'
        );
        const facts = [t('inbox.members', { count }), isMember && t('inbox.roomJoined')];
        const go = () =>
            attempt(async () => {
                if (!isMember) await requests.joinRoom(chat, name);
                dialog.close();
                writeIn(id);
            });
        const preview = div(
            'room-preview',
            topic ? element('p', { dir: 'auto' }, topic) : p('hint', t('inbox.noTopic')),
            button(t(isMember ? 'inbox.openRoom' : 'inbox.joinThisRoom', { title: name }), go, 'primary small'),
        );
        preview.hidden = true;
        const onclick = () => {
            preview.hidden = !preview.hidden;
            head.ariaExpanded = String(!preview.hidden);
        };
        const head = element(
            'button',
            { class: 'choice', type: 'button', 'aria-expanded': 'false', onclick },
            avatar({ id, name, image }, chat, 'small'),
            names(name, facts),
            topic && words('hint room-topic', topic),
        );
        return element('li', {}, head, preview);
    }
}

/** Opens the dialog that creates a room.
 * @param {ChatShape} chat
 * @param {string} title
 */
function openCreateRoom(chat, title) {
    openForm(
        t('inbox.createRoom'),
        [
            field(t('inbox.newRoomTitle'), {
                name: 'title',
                required: true,
                maxlength: 128,
                value: title,
                autofocus: true,
            }),
            field(t('details.topic'), { name: 'topic', maxlength: 512 }),
            p('hint', t('inbox.createRoomHint')),
        ],
        t('inbox.create'),
        async ({ title, topic }) => {
            const { rooms } = await requests.findRooms(chat, title);
            if (rooms.some((room) => normal(room.title) === normal(title))) throw t('inbox.roomExists', { title });
            const { id } = await requests.joinRoom(chat, title.trim());
            if (topic.trim()) await requests.updateThread(chat, id, { topic: topic.trim() });
            return () => writeIn(id);
        },
    );
}
