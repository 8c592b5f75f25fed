// Icons: copies of the symbols in index.html, hidden from assistive technology.

/** @typedef {'archive' | 'attach' | 'back' | 'bell' | 'block' | 'calendar' | 'check' | 'checks' | 'clock' | 'close' | 'copy' | 'device' | 'down' | 'download' | 'edit' | 'emoji' | 'file' | 'flag' | 'forward' | 'info' | 'invite' | 'label' | 'leave' | 'link' | 'list' | 'location' | 'lock' | 'mail' | 'more' | 'muted' | 'people' | 'pin' | 'reply' | 'room' | 'search' | 'send' | 'settings' | 'trash' | 'unread'} IconName */

// These point along the line of text, so they are mirrored in right-to-left languages.
const directed = ['back', 'forward', 'leave', 'reply', 'send'];

/** One of each, which is copied. @type {Map<IconName, SVGElement>} */
const made = new Map();

/** Builds an icon. It has the size of the text around it and the text's colour. It is no `use` element, for which the browser
 * would make a tree of its own: the log has dozens of icons.
 * @param {IconName} name
 */
export function icon(name) {
    const known = made.get(name) ?? build(name);
    made.set(name, known);
    return /** @type {SVGElement} */ (known.cloneNode(true));
}

/** @param {IconName} name */
function build(name) {
    const built = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const symbol = document.getElementById(`icon-${name}`);
    built.setAttribute('viewBox', '0 0 24 24');
    built.setAttribute('class', directed.includes(name) ? 'icon directed' : 'icon');
    built.setAttribute('aria-hidden', 'true');
    built.append(...[...symbol?.children ?? []].map((part) => part.cloneNode()));
    return built;
}
