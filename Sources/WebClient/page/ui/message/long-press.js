// A right click, or a finger that rests: both ask for what can be done with a thing.

const pressMilliseconds = 500;
const moveMax = 10;
const clickMilliseconds = 50;

/** Calls `handler` with the element under the pointer and its place. Where the handler returns false, and on links,
 * pictures and selected text under a mouse, the browser's own menu opens.
 * @param {HTMLElement} area
 * @param {(target: Element, at: {x: number, y: number}) => boolean} handler
 */
export function onLongPress(area, handler) {
    /** @type {{x: number, y: number, target: Element, timer: ReturnType<typeof setTimeout>, isOver: boolean} | null} */
    let press = null;
    const end = () => {
        clearTimeout(press?.timer);
        press = null;
    };
    area.addEventListener('contextmenu', (event) => {
        const { target, clientX: x, clientY: y } = event;
        if (!(target instanceof Element)) return;
        const isTouch = press !== null;
        end();
        if (!isTouch && (target.closest('a[target], a[download], img, textarea, input') || hasSelection())) return;
        if (handler(target, { x, y })) event.preventDefault();
    });
    // Safari on phones has no such event.
    area.addEventListener('pointerdown', (event) => {
        end();
        const { pointerType, target, clientX: x, clientY: y } = event;
        if (pointerType !== 'touch' || !(target instanceof Element) || target.closest('textarea, input')) return;
        const timer = setTimeout(() => press && (press.isOver = true), pressMilliseconds);
        press = { x, y, target, timer, isOver: false };
    });
    area.addEventListener('pointermove', ({ clientX, clientY }) => {
        if (press && Math.hypot(clientX - press.x, clientY - press.y) > moveMax) end();
    });
    area.addEventListener('pointercancel', end);
    area.addEventListener('pointerup', () => {
        if (!press?.isOver) return end();
        const { target, x, y } = press;
        end();
        area.addEventListener('click', stop, { capture: true, once: true });
        // After the click that follows, and after the browser has closed what is open for this pointer.
        setTimeout(() => handler(target, { x, y }), clickMilliseconds);
        setTimeout(() => area.removeEventListener('click', stop, { capture: true }), 10 * clickMilliseconds);
    });
}

/** @param {Event} event */
function stop(event) {
    event.preventDefault();
    event.stopPropagation();
}

function hasSelection() {
    return getSelection()?.isCollapsed === false;
}
