// SPDX-License-Identifier: MIT
// The history, read from the bytes that pack.h describes. A moment is a number of entries: the state behind them.

const ACTION = {
    ALLOC: 0,
    FREE_REQUESTED: 1,
    FREE_COMPLETED: 2,
    SEGMENT_ALLOC: 3,
    SEGMENT_FREE: 4,
    SEGMENT_MAP: 5,
    SEGMENT_UNMAP: 6,
    OOM: 7,
    FREED: 10,
};
const FLAG = { ODD_ADDRESS: 0x10, STREAM: 0x20, BLOCK: 0x40, UNKNOWN: 0x80 };

function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64),
        bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}

// Numbers of seven bits to a byte.
function reader(bytes) {
    let at = 0;
    function number() {
        let byte = bytes[at++],
            value = byte & 127;
        for (let factor = 128; byte > 127; factor *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * factor;
        }
        return value;
    }
    return {
        number,
        byte: () => bytes[at++],
        signed() {
            const value = number();
            return value % 2 ? -(value + 1) / 2 : value / 2;
        },
        list: (read) => Array.from({ length: number() }, read),
        text(decoder) {
            const n = number();
            at += n;
            return decoder.decode(bytes.subarray(at - n, at));
        },
    };
}

function readStacks(r, history) {
    const decoder = new TextDecoder();
    const texts = r.list(() => r.text(decoder));
    const frames = r.list(() => ({ file: texts[r.number()], line: r.number(), name: texts[r.number()] }));
    history.stacks = r.list(() => {
        const chosen = r.number();
        return { frame: chosen ? frames[chosen - 1] : null, frames: r.list(() => frames[r.number()]) };
    });
}

// Columns of allocations: live from start to end, in use by other streams until done. Moments behind the last: never.
function columns(n) {
    return {
        n: 0,
        start: new Int32Array(n),
        end: new Int32Array(n),
        done: new Int32Array(n),
        stack: new Int32Array(n),
        pillar: new Uint8Array(n),
        stream: new Uint16Array(n),
        bytes: new Float64Array(n),
        block: new Float64Array(n),
        address: new Float64Array(n),
    };
}

function addAllocation(a, never, start, address, stream, bytes, block, stack, pillar) {
    const id = a.n++;
    a.start[id] = start;
    a.end[id] = a.done[id] = never;
    a.address[id] = address;
    a.stream[id] = stream;
    a.bytes[id] = bytes;
    a.block[id] = block;
    a.stack[id] = stack;
    a.pillar[id] = pillar;
    return id;
}

function readBefore(r, history) {
    for (let n = r.number(); n > 0; n--) {
        const address = r.number(),
            bytes = r.number(),
            stream = r.number(),
            pool = r.number(),
            kind = r.number();
        history.segments.before(address, bytes, stream, pool, kind);
    }
    return r.list(() => ({
        address: r.number() - 1,
        bytes: r.number(),
        block: r.number(),
        stack: r.number() - 1,
        pillar: r.number(),
    }));
}

function rounded(bytes) {
    return Math.max(Math.ceil(bytes / 512), 1) * 512;
}

// One pass over the entries. total: bytes requested, reserved: of segments, both for each moment.
function readEntries(r, history, before) {
    const n = r.number(),
        a = columns(before.length + n),
        segments = history.segments;
    const time = new Float64Array(n),
        total = new Float64Array(n + 1),
        reserved = new Float64Array(n + 1);
    const change = new Int32Array(n); // id + 1: taken, -(id + 1): given back
    let us = 0,
        address = 0,
        stream = 0,
        held = 0,
        nHeld = 0;
    Object.assign(history, { n, time, total, reserved, change, allocations: a, ooms: [], mostHeld: 0 });
    for (const b of before) {
        addAllocation(a, n + 1, 0, b.address, 0, b.bytes, b.block, b.stack, b.pillar);
        held += b.bytes;
    }
    total[0] = held;
    reserved[0] = segments.bytes;
    nHeld = history.mostHeld = before.length;
    function place(code) {
        const difference = r.signed();
        address += code & FLAG.ODD_ADDRESS ? difference : difference * 512;
        if (code & FLAG.STREAM) stream = r.number();
    }
    function giveBack(id, moment) {
        if (a.end[id] <= n) return;
        a.end[id] = moment;
        change[moment - 1] = -(id + 1);
        held -= a.bytes[id];
        nHeld--;
    }
    function read(at) {
        const code = r.byte(),
            action = code & 15,
            moment = at + 1;
        us += r.signed();
        time[at] = us;
        if (action === ACTION.ALLOC) {
            place(code);
            const bytes = r.number(),
                block = code & FLAG.BLOCK ? r.number() : rounded(bytes);
            const stack = r.number() - 1,
                id = addAllocation(a, n + 1, moment, address, stream, bytes, block, stack, r.number());
            change[at] = id + 1;
            held += bytes;
            history.mostHeld = Math.max(history.mostHeld, ++nHeld);
        } else if (action === ACTION.OOM) {
            const bytes = r.number(),
                free = r.number(),
                stack = r.number() - 1;
            addAllocation(a, moment, moment, -1, 0, 0, 0, stack, 0);
            history.ooms.push({ moment: at, bytes, free, stack });
        } else if (action >= ACTION.SEGMENT_ALLOC && action <= ACTION.SEGMENT_UNMAP) {
            place(code);
            segments.change(action, address, r.number(), stream, r.number(), moment);
        } else if ((action === ACTION.FREED || action <= ACTION.FREE_COMPLETED) && !(code & FLAG.UNKNOWN)) {
            const id = a.n - 1 - r.number();
            giveBack(id, moment);
            if (action !== ACTION.FREE_REQUESTED) a.done[id] = moment;
        }
        total[moment] = held;
        reserved[moment] = segments.bytes;
        if (action !== ACTION.FREED) return at + 1;
        us += r.signed();
        time[at + 1] = us;
        total[moment + 1] = held;
        reserved[moment + 1] = segments.bytes;
        return at + 2;
    }
    for (let at = 0; at < n;) at = read(at);
    for (let i = 1; i < n; i++)
        // entries of several threads: an axis only goes on
        time[i] = Math.max(time[i], time[i - 1]);
}

// The segments that there are over the history, and the mapped parts of expandable ones: pieces with a start and an end.
function segmentList() {
    const pieces = [],
        open = new Map();
    const list = { pieces, bytes: 0, most: 0, before, change };
    function add(address, bytes, stream, pool, isSmall, isExpandable, start) {
        const piece = { address, bytes, stream, pool, isSmall, isExpandable, start, end: Infinity };
        pieces.push(piece);
        open.set(address, piece);
        list.bytes += bytes;
        list.most = Math.max(list.most, list.bytes);
    }
    function before(address, bytes, stream, pool, kind) {
        add(address, bytes, stream, pool, (kind & 1) === 1, (kind & 2) === 2, 0);
    }
    function cut(piece, address, bytes, moment) {
        const end = address + bytes,
            rest = piece.address + piece.bytes - end;
        piece.end = moment;
        open.delete(piece.address);
        list.bytes -= piece.bytes;
        if (address > piece.address)
            add(piece.address, address - piece.address, piece.stream, piece.pool, piece.isSmall, true, moment);
        if (rest > 0) add(end, rest, piece.stream, piece.pool, piece.isSmall, true, moment);
    }
    // Pages of several pieces may go at once.
    function unmap(address, bytes, moment) {
        for (const piece of [...open.values()]) {
            const from = Math.max(piece.address, address),
                to = Math.min(piece.address + piece.bytes, address + bytes);
            if (piece.isExpandable && from < to) cut(piece, from, to - from, moment);
        }
    }
    function change(action, address, bytes, stream, pool, moment) {
        if (action === ACTION.SEGMENT_ALLOC || action === ACTION.SEGMENT_MAP) {
            add(address, bytes, stream, pool, bytes === 2 << 20, action === ACTION.SEGMENT_MAP, moment);
        } else if (action === ACTION.SEGMENT_UNMAP) {
            unmap(address, bytes, moment);
        } else if (open.has(address)) {
            const piece = open.get(address);
            piece.end = moment;
            open.delete(address);
            list.bytes -= piece.bytes;
        }
    }
    return list;
}

function readHistory(base64) {
    const r = reader(bytesOf(base64)),
        history = { segments: segmentList() };
    readStacks(r, history);
    history.streams = r.list(() => r.number());
    history.pools = r.list(() => [r.number(), r.number()]);
    readEntries(r, history, readBefore(r, history));
    return history;
}
