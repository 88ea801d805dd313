// SPDX-License-Identifier: MIT
// What a history says of a moment: who holds memory, by lines of the program or by what it is for, and how it lies in
// segments.

const N_HUES = 7,
    OTHER = N_HUES,
    UNKNOWN = N_HUES + 1; // colours of lines: the largest have one each

// By enum plim_pillar.
const PILLARS = [
    { text: "weights", colour: 0 },
    { text: "KV cache", colour: 4 },
    { text: "activations and work areas", colour: 1 },
    { text: "gradients", colour: 2 },
    { text: "optimizer", colour: 3 },
    { text: "overhead", colour: OTHER },
    { text: "others", colour: OTHER },
    { text: "unknown", colour: UNKNOWN },
];

// Ids of what the program holds at a moment; with isPending: what it gave back and other streams still use.
function liveAt(history, moment, isPending) {
    const a = history.allocations,
        ids = [];
    for (let id = 0; id < a.n && a.start[id] <= moment; id++)
        if (isPending ? a.end[id] <= moment && moment < a.done[id] : moment < a.end[id]) ids.push(id);
    return ids;
}

function frameOf(history, id) {
    const stack = history.stacks[history.allocations.stack[id]];
    return stack ? stack.frame : null;
}

// Allocations in groups: for each id the number of its group, and the groups. A line is a file and a number, as the
// frame that stands for a stack has them.
function groupByLine(history) {
    const numbers = new Map(),
        groups = [];
    const numberOf = (frame) => {
        const key = frame ? `${frame.line} ${frame.file}` : "";
        if (!numbers.has(key)) {
            numbers.set(key, groups.length);
            groups.push({ frame, text: frameText(frame), most: 0, score: 0, colour: frame ? OTHER : UNKNOWN });
        }
        return numbers.get(key);
    };
    const ofStack = Int32Array.from(history.stacks, (stack) => numberOf(stack.frame)),
        unknown = numberOf(null);
    const group = history.allocations.stack
        .subarray(0, history.allocations.n)
        .map((stack) => (stack < 0 ? unknown : ofStack[stack]));
    return { group, groups };
}

function groupByPillar(history) {
    const group = Int32Array.from(history.allocations.pillar.subarray(0, history.allocations.n));
    return { group, groups: PILLARS, colour: Uint8Array.from(group, (pillar) => PILLARS[pillar].colour) };
}

// The most that each group held at once.
function findMost(history, { group, groups }) {
    const a = history.allocations,
        now = new Float64Array(groups.length);
    const add = (id, bytes) => {
        now[group[id]] += bytes;
        groups[group[id]].most = Math.max(groups[group[id]].most, now[group[id]]);
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
        const group = memory.group[id],
            row = rows.get(group) || { group, bytes: 0, n: 0 };
        rows.set(group, row);
        row.bytes += a.bytes[id];
        row.n++;
        held.bytes += a.bytes[id];
        held.n++;
    }
    held.rows = [...rows.values()].sort((x, y) => y.bytes - x.bytes || x.group - y.group);
    return held;
}

// Colours go to the lines that hold most where it matters: at the peak and where memory ran out.
function giveColours(history, lines, moments) {
    for (const moment of moments)
        for (const row of heldAt(history, lines, moment).rows) lines.groups[row.group].score += row.bytes;
    lines.groups
        .filter((line) => line.frame)
        .sort((x, y) => y.score + y.most / 2 - (x.score + x.most / 2))
        .slice(0, N_HUES)
        .forEach((line, i) => {
            line.colour = i;
        });
    lines.colour = Uint8Array.from(lines.group, (line) => lines.groups[line].colour);
}

// group, groups and colour are those of the grouping that is shown.
function makeMemory(history, answer) {
    const peak = answer.peak.entry === null ? 0 : answer.peak.entry + 1,
        oom = answer.oom ? answer.oom.entry : null;
    const groupings = { line: groupByLine(history), pillar: groupByPillar(history) };
    findMost(history, groupings.line);
    giveColours(history, groupings.line, oom === null ? [peak] : [peak, oom]);
    const memory = { peak, oom };
    memory.groupBy = (name) => Object.assign(memory, groupings[name], { by: name });
    memory.groupBy("line");
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
