// Icons: strokes on a grid of 24 × 24, hidden from assistive technology.

import { element, svg } from '../dom.js';

const paths = {
    add: 'M12 5v14M5 12h14',
    archive: 'M4 4h16v4H4zM6 8v11h12V8M10 12h4',
    attach: 'M20 11.5l-8.2 8.2a5 5 0 0 1-7-7L13 4.5a3.3 3.3 0 0 1 4.7 4.7l-8.2 8.1a1.7 1.7 0 0 1-2.3-2.3l7.5-7.5',
    back: 'M15 5l-7 7 7 7',
    bell: 'M6 17V11a6 6 0 0 1 12 0v6M4 17h16M10 20.5h4',
    block: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM6 6l12 12',
    check: 'M5 12.5l4.5 4.5L19 7.5',
    checks: 'M2 12.5l4.5 4.5L16 7.5M11.5 16l1 1L22 7.5',
    clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
    close: 'M6 6l12 12M18 6L6 18',
    copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
    device: 'M7 3h10v18H7zM11 18h2',
    down: 'M6 9.5l6 6 6-6',
    download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
    edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
    emoji: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5v.5M15 9.5v.5',
    file: 'M6 3h8l4 4v14H6zM14 3v4h4',
    info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5.5M12 7.5V8',
    leave: 'M14 4H5v16h9M10 12h11M17.5 8.5L21 12l-3.5 3.5',
    location: 'M12 21s7-6.2 7-11.5a7 7 0 0 0-14 0C5 14.8 12 21 12 21zM12 7.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
    lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
    mail: 'M3.5 6h17v12h-17zM4 7l8 6 8-6',
    more: 'M5 11h1v2H5zM11.5 11h1v2h-1zM18 11h1v2h-1z',
    muted: 'M6 17V11a6 6 0 0 1 9-5.2M18 10v7M4 17h16M10 20.5h4M4 4l16 16',
    people: 'M9 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM3 19a6 6 0 0 1 12 0M16 5.5a3 3 0 0 1 0 5M17.5 14a6 6 0 0 1 3.5 5',
    picture: 'M4 5h16v14H4zM4 16l5-5 4 4 2.5-2.5L20 17M15 9h.01',
    pin: 'M12 15v6M8 4h8l-1 6 3 5H6l3-5z',
    reply: 'M10 6l-6 6 6 6M4 12h9a7 7 0 0 1 7 7',
    room: 'M9.5 4L7.5 20M16.5 4l-2 16M4 9.5h16.5M3.5 15H20',
    search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21',
    send: 'M4 12l16-8-6 17-3-7.5z',
    settings: 'M4 7h8M18 7h2M4 17h2M12 17h8M15 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM9 14a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
    trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5.5M13.5 11v5.5',
    unread: 'M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z',
};

/** @typedef {keyof typeof paths} IconName */

// These point along the line of text, so they are mirrored in right-to-left languages.
const directed = new Set(['back', 'leave', 'reply', 'send']);

/** Builds an icon. It has the size of the text around it and the text's colour.
 * @param {IconName} name
 */
export function icon(name) {
    return svg(
        'svg',
        { class: directed.has(name) ? 'icon directed' : 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
        svg('path', { d: paths[name] }),
    );
}

/** Builds a button that shows an icon and is named by `label`, which is also its tooltip.
 * @param {IconName} name
 * @param {string} label
 * @param {(event: MouseEvent) => void} onclick
 * @param {Record<string, unknown>} [attributes]
 */
export function iconButton(name, label, onclick, attributes = {}) {
    const button = element('button', {
        type: 'button',
        class: 'icon-button',
        'aria-label': label,
        title: label,
        onclick,
        ...attributes,
    });
    button.append(icon(name));
    return button;
}
