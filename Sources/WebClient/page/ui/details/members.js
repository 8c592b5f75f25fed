// The people of a group or room, with what the user may do to each.

import * as requests from '../../core/requests.js';
import { div, element, p } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt, button, iconButton } from '../parts/action.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { item, list, openForm } from '../parts/controls.js';
import { confirm } from '../parts/dialog.js';
import { live } from '../parts/live.js';
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
        const rank = (/** @type {Member} */ { role }) => roles.indexOf(role);
        const members = all.filter(({ status }) => status === 'joined' || status === 'invited');
        members.sort((one, other) => rank(one) - rank(other) || one.user.name.localeCompare(other.user.name));
        const count = members.length - shownMax;
        const rows = members.slice(0, shownMax).map((member) => memberItem(chat, threadID, member, ownRole));
        const add = button(t('details.addPeople'), () => openAddPeople(chat, threadID));
        return [
            div('section-head', element('h3', {}, t('details.members')), ownRole !== 'member' && add),
            list(t('details.members'), rows),
            count > 0 && p('hint', t('details.moreMembers', { count })),
        ];
    });
}

/**
 * @param {ChatShape} chat
 * @param {string} threadID
 * @param {Member} member
 * @param {Role} ownRole
 */
function memberItem(chat, threadID, member, ownRole) {
    const { user, role, status } = member;
    const isSelf = user.id === chat.session.value?.user.id;
    const label = t('inbox.optionsFor', { title: user.name });
    const options = iconButton('more', label, () => openMenu(options, label, menu(chat, threadID, member, ownRole)));
    const facts = [
        isSelf && t('details.you'),
        role !== 'member' && t(`details.${role}`),
        status === 'invited' && t('details.invited'),
        user.presence === 'online' && t('shell.online'),
        user.status_text,
    ];
    return item(avatar(personSubject(user), chat, 'small'), user.name, facts, !isSelf && options);
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
    const write = async () => {
        const thread = await requests.createThread(chat, { kind: 'direct', members: [id] });
        document.querySelector('dialog')?.close();
        writeIn(thread.id);
    };
    const title = t(isInvited ? 'details.withdraw' : 'details.remove');
    const remove = async () => {
        const question = { title, text: t('details.removeText', { name }), action: t('details.removeAction') };
        if (isInvited || await confirm(question)) await requests.removeMember(chat, threadID, id);
    };
    const isOwner = ownRole === 'owner';
    const others = isOwner && !isInvited ? roles.filter((each) => each !== role) : [];
    const mayRemove = isOwner || (ownRole === 'admin' && role === 'member');
    return [
        { name: t('details.message'), icon: 'send', onselect: () => attempt(write) },
        ...others.map((role) => ({
            name: t(`details.make.${role}`),
            icon: /** @type {const} */ ('people'),
            onselect: () => attempt(() => requests.setMember(chat, threadID, id, { role })),
        })),
        ...(mayRemove
            ? [{
                name: title,
                icon: /** @type {const} */ ('leave'),
                isDangerous: true,
                onselect: () => attempt(remove),
            }]
            : []),
    ];
}

/** Asks whom to add to a group or room, or to invite.
 * @param {ChatShape} chat
 * @param {string} threadID
 */
export function openAddPeople(chat, threadID) {
    const members = chat.members(threadID).value ?? [];
    /** @type {Person[]} */
    let people = [];
    const picker = peoplePicker(chat, new Set(members.map(({ user }) => user.id)), (chosen) => people = chosen);
    const put = async (/** @type {'joined' | 'invited'} */ status) => {
        for (const { id } of people) await requests.setMember(chat, threadID, id, { status });
        dialog.close();
    };
    const content = [picker, p('hint', t('details.inviteHint'))];
    const invite = button(t('details.invite'), () => put('invited'));
    const dialog = openForm(t('details.addPeople'), content, t('details.add'), () => put('joined'), [invite]);
}
