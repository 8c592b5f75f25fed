// Icons: symbols in index.html, hidden from assistive technology.

/** @typedef {'archive' | 'attach' | 'back' | 'bell' | 'block' | 'calendar' | 'check' | 'checks' | 'clock' | 'close' | 'copy' | 'device' | 'down' | 'download' | 'edit' | 'emoji' | 'file' | 'flag' | 'forward' | 'info' | 'invite' | 'label' | 'leave' | 'link' | 'list' | 'location' | 'lock' | 'mail' | 'more' | 'muted' | 'people' | 'pin' | 'reply' | 'room' | 'search' | 'send' | 'settings' | 'trash' | 'unread'} IconName */

// These point along the line of text, so they are mirrored in right-to-left languages.
const directed = ['back', 'forward', 'leave', 'reply', 'send'];

/** Builds an icon. It has the size of the text around it and the text's colour.
 * @param {IconName} name
 */
export function icon(name) {
    const [made, use] = ['svg', 'use'].map((part) => document.createElementNS('http://www.w3.org/2000/svg', part));
    use.setAttribute('href', `#icon-${name}`);
    made.setAttribute('class', directed.includes(name) ? 'icon directed' : 'icon');
    made.setAttribute('aria-hidden', 'true');
    made.append(use);
    return made;
}
