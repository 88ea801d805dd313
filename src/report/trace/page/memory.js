// SPDX-License-Identifier: MIT
// What a history says of a moment: who holds memory, by lines of the program, and how it lies in segments.

const N_HUES = 7,
    OTHER = N_HUES,
    UNKNOWN = N_HUES + 1; // colours of lines: the largest have one each

// Ids of what the program holds at a moment; with isPending: what it gave back and other streams still use.
function liveAt(history, moment, isPending) {
    const a = history.allocations,
        ids = [];
    for (let id = 0; id < a.n && a.start[id] <= moment; id++)
        if (isPending ? a.end[id] <= moment && moment < a.done[id] : moment < a.end[id]) ids.push(id);
    return ids;
}

// A line is a file and a number, as the frame that stands for a stack has them.
function findLines(history) {
    const numbers = new Map(),
        lines = [];
    const lineOf = (frame) => {
        const key = frame ? `${frame.line} ${frame.file}` : "";
        if (!numbers.has(key)) {
            numbers.set(key, lines.length);
            lines.push({ frame, most: 0, score: 0, colour: frame ? OTHER : UNKNOWN });
        }
        return numbers.get(key);
    };
    const lineOfStack = Int32Array.from(history.stacks, (stack) => lineOf(stack.frame));
    const unknown = lineOf(null),
        a = history.allocations;
    const line = new Int32Array(a.n);
    for (let id = 0; id < a.n; id++) line[id] = a.stack[id] < 0 ? unknown : lineOfStack[a.stack[id]];
    return { lines, line };
}

// The most that each line held at once.
function findMost(history, memory) {
    const a = history.allocations,
        now = new Float64Array(memory.lines.length);
    const add = (id, bytes) => {
        const line = memory.line[id];
        now[line] += bytes;
        memory.lines[line].most = Math.max(memory.lines[line].most, now[line]);
    };
    for (let id = 0; id < a.n && a.start[id] === 0; id++) add(id, a.bytes[id]);
    for (let at = 0; at < history.n; at++) {
        const change = history.change[at];
        if (change > 0) add(change - 1, a.bytes[change - 1]);
        else if (change < 0) add(-change - 1, -a.bytes[-change - 1]);
    }
}

function heldAt(history, memory, moment) {
    const rows = new Map(),
        a = history.allocations;
    const held = { bytes: 0, n: 0, rows: [] };
    for (const id of liveAt(history, moment, false)) {
        const line = memory.line[id],
            row = rows.get(line) || { line, bytes: 0, n: 0 };
        rows.set(line, row);
        row.bytes += a.bytes[id];
        row.n++;
        held.bytes += a.bytes[id];
        held.n++;
    }
    held.rows = [...rows.values()].sort((x, y) => y.bytes - x.bytes || x.line - y.line);
    return held;
}

// Colours go to the lines that hold most where it matters: at the peak and where memory ran out.
function giveColours(history, memory) {
    for (const moment of memory.moments)
        for (const row of heldAt(history, memory, moment).rows) memory.lines[row.line].score += row.bytes;
    memory.lines
        .filter((line) => line.frame)
        .sort((x, y) => y.score + y.most / 2 - (x.score + x.most / 2))
        .slice(0, N_HUES)
        .forEach((line, i) => {
            line.colour = i;
        });
    memory.colour = Uint8Array.from(memory.line, (line) => memory.lines[line].colour);
}

function makeMemory(history, answer) {
    const memory = findLines(history);
    memory.peak = answer.peak.entry === null ? 0 : answer.peak.entry + 1;
    memory.oom = answer.oom ? answer.oom.entry : null;
    memory.moments = memory.oom === null ? [memory.peak] : [memory.peak, memory.oom];
    findMost(history, memory);
    giveColours(history, memory);
    return memory;
}

// --- segments ---

// Pieces at a moment, in the order in which they came; mapped pages that touch are one.
function segmentsAt(history, moment) {
    const byAddress = history.segments.pieces
        .filter((piece) => piece.start <= moment && moment < piece.end)
        .map((piece) => ({ ...piece, blocks: [] }))
        .sort((x, y) => x.address - y.address);
    const segments = [];
    for (const piece of byAddress) {
        const last = segments[segments.length - 1];
        const isOne =
            last &&
            last.isExpandable &&
            piece.isExpandable &&
            last.address + last.bytes === piece.address &&
            last.stream === piece.stream &&
            last.pool === piece.pool;
        if (isOne) last.bytes += piece.bytes;
        else segments.push(piece);
    }
    return segments;
}

// Segments with their blocks: { address, bytes, id, isPending }, id -1: free. And their sums.
function mapAt(history, moment) {
    const a = history.allocations,
        segments = segmentsAt(history, moment);
    const used = [
        ...liveAt(history, moment, false).map((id) => ({ id, isPending: false })),
        ...liveAt(history, moment, true).map((id) => ({ id, isPending: true })),
    ]
        .filter((block) => a.address[block.id] >= 0)
        .sort((x, y) => a.address[x.id] - a.address[y.id]);
    const map = { segments, bytes: 0, used: 0, pending: 0, free: 0, largestFree: 0 };
    let at = 0;
    for (const segment of segments) {
        const end = segment.address + segment.bytes;
        let address = segment.address;
        const addFree = (to) => {
            if (to <= address) return;
            segment.blocks.push({ address, bytes: to - address, id: -1, isPending: false });
            map.free += to - address;
            map.largestFree = Math.max(map.largestFree, to - address);
        };
        while (at < used.length && a.address[used[at].id] < segment.address) at++;
        for (; at < used.length && a.address[used[at].id] < end; at++) {
            const { id, isPending } = used[at];
            const next = at + 1 < used.length ? Math.min(a.address[used[at + 1].id], end) : end;
            addFree(a.address[id]);
            const bytes = Math.min(a.block[id], next - a.address[id]);
            segment.blocks.push({ address: a.address[id], bytes, id, isPending });
            map[isPending ? "pending" : "used"] += bytes;
            address = a.address[id] + bytes;
        }
        addFree(end);
        map.bytes += segment.bytes;
    }
    segments.sort((x, y) => x.isSmall - y.isSmall || x.start - y.start || x.address - y.address);
    return map;
}
