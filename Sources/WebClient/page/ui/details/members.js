// The people of a group or room, with what the user may do to each.

import { Component, element, fill } from '../dom.js';
import { t } from '../../language/index.js';
import { attempt } from '../parts/alert.js';
import { avatar, personSubject } from '../parts/avatar.js';
import { confirm } from '../parts/dialog.js';
import { iconButton } from '../parts/icon.js';
import { openMenu } from '../parts/menu.js';
import { goTo, threadAddress } from '../shell/router.js';
import { openAddPeople } from './add-people.js';

/** @typedef {import('../../core/types.js').Member} Member */
/** @typedef {import('../parts/menu.js').MenuItem} MenuItem */

const step = 100;
const order = ['owner', 'admin', 'member'];

export class MemberList extends Component {
    #heading = element('div', { class: 'section-head' });
    #list = element('ul', { class: 'people', role: 'list', 'aria-label': t('details.members') });
    #more = element('button', {
        class: 'button quiet',
        type: 'button',
        onclick: () => {
            this.#limit += step;
            this.#draw();
        },
    }, t('details.showMore'));
    #limit = step;
    /** @type {Member[]} */
    #members = [];

    /**
     * @param {import('../../core/types.js').ChatShape} chat
     * @param {string} threadID
     */
    constructor(chat, threadID) {
        super();
        this.chat = chat;
        this.threadID = threadID;
    }

    connectedCallback() {
        fill(this, this.#heading, this.#list, this.#more);
        this.follow(this.chat.thread(this.threadID), () => this.#draw());
        this.follow(this.chat.members(this.threadID), (members) => {
            this.#members = members
                .filter(({ status }) => status === 'joined' || status === 'invited')
                .sort((one, other) =>
                    order.indexOf(one.role) - order.indexOf(other.role) || one.user.name.localeCompare(other.user.name)
                );
            this.#draw();
        });
    }

    get #ownRole() {
        return this.chat.thread(this.threadID).value?.me.role ?? 'member';
    }

    #draw() {
        const isAdmin = this.#ownRole !== 'member';
        fill(
            this.#heading,
            element('h3', {}, t('details.members')),
            isAdmin && element('button', {
                class: 'button',
                type: 'button',
                onclick: () => openAddPeople(this.chat, this.threadID, this.#members),
            }, t('details.addPeople')),
        );
        fill(this.#list, ...this.#members.slice(0, this.#limit).map((member) => this.#item(member)));
        this.#more.hidden = this.#members.length <= this.#limit;
    }

    /** @param {Member} member */
    #item(member) {
        const { user, role, status } = member;
        const isSelf = user.id === this.chat.session.value?.user.id;
        const facts = [
            isSelf && t('details.you'),
            role !== 'member' && t(`details.${role}`),
            status === 'invited' && t('details.invited'),
            user.status_text,
        ];
        const items = isSelf ? [] : this.#menu(member);
        const label = t('details.optionsFor', { name: user.name });
        const options = iconButton('more', label, () => openMenu(options, label, items));
        return element(
            'li',
            { class: 'person-row' },
            element(
                'span',
                { class: user.presence === 'online' ? 'presence online' : 'presence' },
                avatar(personSubject(user), this.chat, 'small'),
            ),
            element(
                'span',
                { class: 'person' },
                element('span', { dir: 'auto' }, user.name),
                element('span', { class: 'hint' }, facts.filter((fact) => !!fact).join(' · ')),
            ),
            items.length > 0 && options,
        );
    }

    /** @param {Member} member
     * @returns {MenuItem[]} */
    #menu({ user, role, status }) {
        const { chat, threadID } = this;
        const ownRole = this.#ownRole;
        /** @type {MenuItem[]} */
        const items = [{
            name: t('details.message'),
            icon: 'send',
            onselect: () =>
                attempt(async () => {
                    const thread = await chat.createThread({ kind: 'direct', members: [user.id] });
                    this.closest('dialog')?.close();
                    goTo(threadAddress(thread.id));
                }),
        }];
        if (ownRole === 'owner' && status === 'joined') {
            for (const other of order.filter((each) => each !== role)) {
                items.push({
                    name: t(`details.make.${other}`),
                    icon: 'people',
                    onselect: () => attempt(() => chat.setMember(threadID, user.id, { role: other })),
                });
            }
        }
        if (ownRole === 'owner' || (ownRole === 'admin' && role === 'member')) {
            const isInvited = status === 'invited';
            items.push({
                name: t(isInvited ? 'details.withdraw' : 'details.remove'),
                icon: 'leave',
                isDangerous: true,
                onselect: () => isInvited ? attempt(() => chat.removeMember(threadID, user.id)) : this.#remove(user),
            });
        }
        return items;
    }

    /** @param {import('../../core/types.js').Person} person */
    async #remove({ id, name }) {
        const question = {
            title: t('details.remove'),
            text: t('details.removeText', { name }),
            action: t('details.removeAction'),
        };
        if (await confirm(question)) await attempt(() => this.chat.removeMember(this.threadID, id));
    }
}

customElements.define('parley-members', MemberList);
