// A finger that pulls a message towards the end of the line, to answer it.

/** From where a movement counts as a swipe, and from where it acts, in pixels. */
const start = 12;
const enough = 56;
const most = 72;

/** Returns how far a message follows a finger.
 * @param {number} along how far the finger has moved in the direction of reading
 * @param {number} across how far up or down
 * @returns {number} 0: this is no swipe
 */
export function pull(along, across) {
    return along > start && along > 2 * Math.abs(across) ? Math.min(along, most) : 0;
}

/** Calls `handler` with an element that a finger has pulled far enough.
 * @param {HTMLElement} area
 * @param {(target: Element) => HTMLElement | undefined} find returns the element that moves, if any
 * @param {(element: HTMLElement) => void} handler
 */
export function onSwipe(area, find, handler) {
    /** @type {{element: HTMLElement, x: number, y: number, id: number, way: number, far: number} | null} */
    let swipe = null;
    area.addEventListener('pointerdown', ({ target, pointerType, pointerId: id, clientX: x, clientY: y }) => {
        end();
        // What scrolls sideways is not swiped.
        if (
            pointerType !== 'touch' || !(target instanceof Element) ||
            target.closest('pre, audio, video, input, textarea')
        ) {
            return;
        }
        const element = find(target);
        const way = getComputedStyle(area).direction === 'rtl' ? -1 : 1;
        if (element) swipe = { element, x, y, id, way, far: 0 };
    });
    area.addEventListener('pointermove', ({ pointerId, clientX, clientY }) => {
        if (swipe?.id !== pointerId) return;
        const along = (clientX - swipe.x) * swipe.way;
        // Once begun, a swipe follows the finger up and down, too.
        const far = pull(along, swipe.far > 0 ? 0 : clientY - swipe.y);
        swipe.far = far;
        swipe.element.style.setProperty('translate', `${far * swipe.way}px`);
        swipe.element.classList.toggle('swiped', far >= enough);
    });
    area.addEventListener('pointercancel', end);
    area.addEventListener('pointerup', () => {
        const { element, far } = swipe ?? {};
        end();
        if (!element || !far) return;
        // The click that follows is no click.
        const stop = (/** @type {Event} */ event) => event.stopPropagation();
        area.addEventListener('click', stop, { capture: true, once: true });
        setTimeout(() => area.removeEventListener('click', stop, { capture: true }), 100);
        if (far >= enough) handler(element);
    });

    function end() {
        swipe?.element.style.removeProperty('translate');
        swipe?.element.classList.remove('swiped');
        swipe = null;
    }
}
