// The one way in which this page makes elements. Texts are always text nodes, so nothing that a person wrote can become
// markup.

/** @typedef {Node | string | number | false | null | undefined} Leaf */
/** @typedef {Leaf | Leaf[]} Child what an element may contain; false, null and undefined are left out */

/** Builds an element. In `attributes`, functions under `on…` become listeners, strings and numbers attributes, true an
 * empty attribute; false, null and undefined are left out; anything else (an object, a function) becomes a property.
 * `value` is always a property.
 * @template {string} Name
 * @param {Name} name
 * @param {Record<string, unknown>} [attributes]
 * @param {...Child} children
 * @returns {Name extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) apply(made, key, value);
    made.append(...nodes(children));
    // @ts-ignore: createElement returns the type that belongs to the name.
    return made;
}

/** Builds a `div` of a class.
 * @param {string} className
 * @param {...Child} children
 */
export function div(className, ...children) {
    return element('div', { class: className }, ...children);
}

/** Builds a `p` of a class.
 * @param {string} className
 * @param {...Child} children
 */
export function p(className, ...children) {
    return element('p', { class: className }, ...children);
}

/** Builds a name or text that a person wrote: its direction is its own.
 * @param {string} className
 * @param {...Child} children
 */
export function words(className, ...children) {
    return element('span', { class: className, dir: 'auto' }, ...children);
}

/** Sets the children of `parent` to `children` in this order. Nodes that are in place already stay untouched, and the
 * focus stays where it is.
 * @param {Element} parent
 * @param {Node[]} children
 */
export function arrange(parent, children) {
    const focused = document.activeElement;
    const wanted = new Set(children);
    for (const node of [...parent.childNodes]) if (!wanted.has(node)) node.remove();
    let next = parent.firstChild;
    for (const node of children) {
        if (node === next) next = next.nextSibling;
        else parent.insertBefore(node, next);
    }
    if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused)) {
        focused.focus({ preventScroll: true });
    }
}

/** Replaces the children of `parent`; accepts the same children as `element`.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
    parent.replaceChildren(...nodes(children));
}

/** A custom element that follows live values while it is in the page. */
export class Component extends HTMLElement {
    /** @type {(() => void)[]} */
    #endings = [];

    /** Calls `handler` with the value now and after each change, until the element leaves the page.
     * @template T
     * @param {import('../core/types.js').Live<T>} live
     * @param {(value: T) => void} handler
     */
    follow(live, handler) {
        this.#endings.push(live.subscribe(handler));
    }

    /** Calls `ending` when the element leaves the page.
     * @param {() => void} ending
     */
    atEnd(ending) {
        this.#endings.push(ending);
    }

    disconnectedCallback() {
        for (const end of this.#endings.splice(0)) end();
    }
}

/**
 * @param {HTMLElement} made
 * @param {string} key
 * @param {unknown} value
 */
function apply(made, key, value) {
    if (value === false || value === null || value === undefined) return;
    if (key.startsWith('on') && typeof value === 'function') {
        made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else if (key === 'value' || typeof value === 'object' || typeof value === 'function') {
        Reflect.set(made, key, value);
    } else {
        made.setAttribute(key, value === true ? '' : String(value));
    }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
    return children.flat().filter((leaf) => leaf !== false && leaf !== null && leaf !== undefined)
        .map((leaf) => leaf instanceof Node ? leaf : String(leaf));
}
