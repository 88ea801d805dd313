// SPDX-License-Identifier: MIT
// The stack of live memory as pixels: a band for each allocation, the oldest at the bottom. A column of pixels shows the
// moment of its range when most was held; so what is drawn does not grow with the history, only the walk over it does.

const MANY = 1500; // live allocations at once, above which those below half a pixel are summed by colour
const SUMMED = 0xffffff00; // in the picture of marks: the small ones of a colour
const LABEL_PX = 15; // the least height of a band with a name

// The moment of [from, to] when most was held.
function peakWithin(total, from, to) {
    let best = from;
    for (let moment = from + 1; moment <= to; moment++) if (total[moment] > total[best]) best = moment;
    return best;
}

// Large live allocations as a list in the order of their ids, and sums of the small ones by colour.
function liveList(history, memory, moment, leastBytes) {
    const a = history.allocations;
    const list = {
        first: -1,
        last: -1,
        next: history.next,
        previous: history.previous,
        small: new Float64Array(UNKNOWN + 1),
    };
    function take(id) {
        if (a.bytes[id] < leastBytes) {
            list.small[memory.colour[id]] += a.bytes[id];
            return;
        }
        list.previous[id] = list.last;
        list.next[id] = -1;
        if (list.last < 0) list.first = id;
        else list.next[list.last] = id;
        list.last = id;
    }
    function give(id) {
        if (a.bytes[id] < leastBytes) {
            list.small[memory.colour[id]] -= a.bytes[id];
            return;
        }
        const before = list.previous[id],
            behind = list.next[id];
        if (before < 0) list.first = behind;
        else list.next[before] = behind;
        if (behind < 0) list.last = before;
        else list.previous[behind] = before;
    }
    let at = moment;
    list.moveTo = (to) => {
        for (; at < to; at++) {
            const change = history.change[at];
            if (change > 0) take(change - 1);
            else if (change < 0) give(-change - 1);
        }
    };
    liveAt(history, moment, false).forEach(take);
    return list;
}

// Where names fit: for a band the rectangle that lies within it over neighbouring columns.
function labelFinder(least, leastWidth) {
    const runs = new Map(),
        found = [];
    function end(run) {
        if (run.to - run.from >= leastWidth) found.push(run);
    }
    return {
        see(id, column, low, high) {
            const run = runs.get(id);
            if (run && run.to === column && Math.min(run.high, high) - Math.max(run.low, low) >= least) {
                run.to = column + 1;
                run.low = Math.max(run.low, low);
                run.high = Math.min(run.high, high);
                return;
            }
            if (run) end(run);
            runs.set(id, { id, from: column, to: column + 1, low, high });
        },
        // The widest first, one for each allocation.
        best(n) {
            runs.forEach(end);
            found.sort((x, y) => y.to - y.from - (x.to - x.from));
            const seen = new Set();
            return found.filter((run) => !seen.has(run.id) && seen.add(run.id)).slice(0, n);
        },
    };
}

// Paints moments[] (one for each column) into a picture of width x height: colours, and for each pixel a mark:
// the id + 1, 0 where nothing is.
function paintStack(history, memory, moments, height, mostBytes, palette, scale) {
    const width = moments.length,
        a = history.allocations;
    const pixels = new Uint32Array(width * height),
        marks = new Uint32Array(width * height);
    const perByte = height / mostBytes;
    const list = liveList(history, memory, moments[0], history.mostHeld > MANY ? 0.5 / perByte : 0);
    const leastLabel = LABEL_PX * scale,
        edge = 4 * scale;
    const labels = labelFinder(leastLabel, 56 * scale),
        groups = labelFinder(leastLabel, 90 * scale);
    let sum, column, group;
    // Bands of one line that lie on each other, none large enough for a name, have one together.
    function addToGroup(mark, low, high) {
        const line = mark < SUMMED && high - low < leastLabel ? memory.group[mark - 1] : -1;
        if (line >= 0 && line === group.line) {
            group.high = high;
            return;
        }
        if (group.line >= 0 && group.high - group.low >= leastLabel)
            groups.see(group.line, column, group.low, group.high);
        group = { line, low, high };
    }
    function fill(bytes, mark, colour) {
        const low = Math.round(sum * perByte);
        sum += bytes;
        const high = Math.min(Math.round(sum * perByte), height);
        if (high <= low) return;
        const shade = palette.shades[2 * colour + (mark & 1)],
            line = high - low >= edge ? palette.edge[colour] : shade;
        let at = (height - 1 - low) * width + column;
        for (let y = low; y < high; y++, at -= width) {
            pixels[at] = y === high - 1 ? line : shade;
            marks[at] = mark;
        }
        addToGroup(mark, low, high);
        if (high - low >= leastLabel && mark < SUMMED) labels.see(mark - 1, column, low, high);
    }
    for (column = 0; column < width; column++) {
        list.moveTo(moments[column]);
        sum = 0;
        group = { line: -1 };
        for (let colour = 0; colour <= UNKNOWN; colour++)
            if (list.small[colour] > 0) fill(list.small[colour], SUMMED + colour, colour);
        for (let id = list.first; id >= 0; id = list.next[id]) fill(a.bytes[id], id + 1, memory.colour[id]);
        addToGroup(SUMMED, 0, 0);
    }
    return { width, height, pixels, marks, labels: labels.best(28), groups: groups.best(12) };
}
