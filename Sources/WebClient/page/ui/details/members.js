// The people of a group or room, with what the user may do to each.

import { element } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { personSubject } from '../parts/avatar.js';
import { button, list, live, openForm, profile } from '../parts/controls.js';
import { confirm } from '../parts/dialog.js';
import { iconButton } from '../parts/icon.js';
import { openMenu } from '../parts/menu.js';
import { peoplePicker } from '../parts/people-picker.js';
import { writeIn } from '../shell/router.js';

/** @import {ChatShape, Member, Person} from '../../core/types.js' */
/** @import {MenuItem} from '../parts/menu.js' */
/** @typedef {Member['role']} Role */

/** @type {Role[]} */
const roles = ['owner', 'admin', 'member'];
const shownMax = 200;

/** Builds the list, with the owners first.
 * @param {ChatShape} chat
 * @param {string} threadID
 */
export function memberList(chat, threadID) {
    return live(chat.members(threadID), (all) => {
        const ownRole = chat.thread(threadID).value?.me.role ?? 'member';
        const members = all.filter(({ status }) => status === 'joined' || status === 'invited').sort((one, other) =>
            roles.indexOf(one.role) - roles.indexOf(other.role) || one.user.name.localeCompare(other.user.name)
        );
        const hidden = members.length - shownMax;
        return [
            element(
                'div',
                { class: 'section-head' },
                element('h3', {}, t('details.members')),
                ownRole !== 'member' && button(t('details.addPeople'), () => openAddPeople(chat, threadID, members)),
            ),
            list(
                t('details.members'),
                members.slice(0, shownMax).map((member) => item(chat, threadID, member, ownRole)),
            ),
            hidden > 0 && element('p', { class: 'hint' }, t('details.moreMembers', { count: hidden })),
        ];
    });
}

/**
 * @param {ChatShape} chat
 * @param {string} threadID
 * @param {Member} member
 * @param {Role} ownRole
 */
function item(chat, threadID, member, ownRole) {
    const { user, role, status } = member;
    const isSelf = user.id === chat.session.value?.user.id;
    const facts = [
        isSelf && t('details.you'),
        role !== 'member' && t(`details.${role}`),
        status === 'invited' && t('details.invited'),
        user.presence === 'online' && t('shell.online'),
        user.status_text,
    ];
    const label = t('inbox.optionsFor', { title: user.name });
    const options = iconButton('more', label, () => openMenu(options, label, menu(chat, threadID, member, ownRole)));
    return element(
        'li',
        { class: 'person-row' },
        profile(personSubject(user), chat, facts),
        !isSelf && options,
    );
}

/**
 * @param {ChatShape} chat
 * @param {string} threadID
 * @param {Member} member
 * @param {Role} ownRole
 * @returns {MenuItem[]}
 */
function menu(chat, threadID, { user, role, status }, ownRole) {
    const { id, name } = user;
    const isInvited = status === 'invited';
    const remove = async () => {
        const title = t('details.remove');
        const question = { title, text: t('details.removeText', { name }), action: t('details.removeAction') };
        if (isInvited || await confirm(question)) await attempt(() => chat.removeMember(threadID, id));
    };
    /** @type {MenuItem[]} */
    const items = [{ name: t('details.message'), icon: 'send', onselect: () => attempt(() => write(chat, user)) }];
    if (ownRole === 'owner' && !isInvited) {
        for (const other of roles.filter((each) => each !== role)) {
            const onselect = () => attempt(() => chat.setMember(threadID, id, { role: other }));
            items.push({ name: t(`details.make.${other}`), icon: 'people', onselect });
        }
    }
    if (ownRole === 'owner' || (ownRole === 'admin' && role === 'member')) {
        const title = t(isInvited ? 'details.withdraw' : 'details.remove');
        items.push({ name: title, icon: 'leave', isDangerous: true, onselect: remove });
    }
    return items;
}

/**
 * @param {ChatShape} chat
 * @param {Person} person
 */
async function write(chat, { id }) {
    const thread = await chat.createThread({ kind: 'direct', members: [id] });
    document.querySelector('dialog')?.close();
    writeIn(thread.id);
}

/** Opens the dialog that adds people to a thread, or invites them.
 * @param {ChatShape} chat
 * @param {string} threadID
 * @param {Member[]} members they cannot be chosen again
 */
function openAddPeople(chat, threadID, members) {
    /** @type {Person[]} */
    let people = [];
    const picker = peoplePicker(chat, new Set(members.map(({ user }) => user.id)), (chosen) => people = chosen);
    const put = async (/** @type {'joined' | 'invited'} */ status) => {
        for (const { id } of people) await chat.setMember(threadID, id, { status });
        dialog.close();
    };
    const invite = button(t('details.invite'), () => put('invited'));
    const hint = element('p', { class: 'hint' }, t('details.inviteHint'));
    const dialog = openForm(t('details.addPeople'), [picker, hint], t('details.add'), () => put('joined'), [invite]);
}
