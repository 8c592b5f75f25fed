// Keeps what is in view in place while rows come and go around it. Done by hand, because not every browser has
// `overflow-anchor`.

/** Room for fractions of a pixel. */
const slack = 4;

export class ScrollKeeper {
    #scroller;
    #content;
    /** The rows in view with their distance from the top of the view.
     * @type {{row: HTMLElement, top: number}[]} */
    #anchors = [];
    /** Where the view was at the last record. */
    #place = 0;
    #observer = new ResizeObserver(() => this.restore());

    /** Whether the view is at the end and follows it when rows are added. */
    isAtEnd = true;
    /** Whether the last row is the newest: only then the view can follow the end. */
    hasEnd = true;

    /** @param {HTMLElement} scroller the offset parent of the rows
     * @param {HTMLElement} content its only child, which holds the rows */
    constructor(scroller, content) {
        this.#scroller = scroller;
        this.#content = content;
        this.#observer.observe(scroller);
        this.#observer.observe(content);
    }

    /** Distance from the end in pixels. */
    get distance() {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        return scrollHeight - scrollTop - clientHeight;
    }

    /** The first row in view, as it was recorded. */
    get first() {
        return this.#anchors[0]?.row;
    }

    /** Remembers what is in view. Call it after each scroll. */
    record() {
        // A hidden log has no size and nothing in view: keep what was.
        if (this.#scroller.clientHeight === 0) return;
        this.isAtEnd = this.hasEnd && this.distance <= slack;
        const { scrollTop } = this.#scroller;
        this.#place = scrollTop;
        this.#anchors = this.rowsInView().map((row) => ({ row, top: row.offsetTop - scrollTop }));
    }

    /** Scrolls so that the first row that was in view and is still there is where it was. */
    restore() {
        if (this.#scroller.clientHeight === 0) return;
        // The user has scrolled, and the event is still to come. At the end it may have been the browser, because the
        // content has become shorter.
        const moved = this.distance > slack ? this.#scroller.scrollTop - this.#place : 0;
        if (this.isAtEnd && this.hasEnd && Math.abs(moved) < 1) return this.showEnd();
        const anchor = this.#anchors.find(({ row }) => row.isConnected);
        if (!anchor) return;
        const change = anchor.row.offsetTop - this.#scroller.scrollTop - anchor.top + moved;
        if (Math.abs(change) >= 1) this.#scroller.scrollTop += change;
        this.record();
    }

    /** Scrolls to the end. */
    showEnd() {
        // Setting the same place again would end a scroll that the user has just begun.
        if (this.distance >= 1) this.#scroller.scrollTop = this.#scroller.scrollHeight;
        this.record();
    }

    /** Scrolls until a row has a distance from the top of the view.
     * @param {HTMLElement} row @param {'top' | 'centre'} place */
    show(row, place) {
        const room = this.#scroller.clientHeight - row.offsetHeight;
        const top = place === 'centre' && room > 0 ? room / 2 : 12;
        this.#scroller.scrollTop = row.offsetTop - top;
        this.record();
    }

    /** The articles of which at least a part is in view. */
    rowsInView() {
        const rows = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.#content.children);
        const { scrollTop, clientHeight } = this.#scroller;
        let low = 0;
        let high = rows.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (rows[middle].offsetTop + rows[middle].offsetHeight > scrollTop) high = middle;
            else low = middle + 1;
        }
        const found = [];
        for (; low < rows.length && rows[low].offsetTop < scrollTop + clientHeight; low += 1) {
            if (rows[low].localName === 'article') found.push(rows[low]);
        }
        return found;
    }

    stop() {
        this.#observer.disconnect();
    }
}
