// SPDX-License-Identifier: MIT
// The segments of a moment: bars of one scale, in rows; in them blocks, in the colours of the lines that hold them.

const BAR = 17,
    BAR_GAP = 6,
    SEGMENT_GAP = 3,
    MOST_ROWS = 16;

// Segments in rows of `width` pixels: { segment, from, to (bytes of it), x, row } for each piece of a bar.
function layOut(segments, perByte, width) {
    const bars = [];
    let x = 0,
        row = 0;
    for (const segment of segments) {
        const whole = Math.max(segment.bytes * perByte, 1.5);
        if (x > 0 && x + whole > width && whole <= width) {
            x = 0;
            row++;
        }
        for (let from = 0; from < segment.bytes;) {
            const to = Math.min(segment.bytes, from + Math.max((width - x) / perByte, 1));
            bars.push({ segment, from, to, x, row });
            x += Math.max((to - from) * perByte, 1.5) + SEGMENT_GAP;
            if (to < segment.bytes || x >= width) {
                x = 0;
                row++;
            }
            from = to;
        }
    }
    return { bars, rows: x > 0 ? row + 1 : row };
}

function makeSegments(ui) {
    const { history, memory } = ui,
        box = byId("segments"),
        canvas = box.querySelector("canvas"),
        part = { box, map: null };
    let layout = { bars: [] },
        perByte = 1;

    // One scale for all moments, so that bars do not jump: that of the most that was ever reserved.
    function choose(width) {
        const most = Math.max(history.segments.most, part.map.bytes, 1);
        const rows = Math.min(
            MOST_ROWS,
            Math.max(3, Math.ceil(part.map.segments.length / 8), Math.ceil(1800 / width)),
        );
        perByte = (width * rows * 0.94) / most;
        layout = layOut(part.map.segments, perByte, width);
        for (let i = 0; i < 12 && layout.rows > rows + 1; i++) {
            perByte *= 0.9;
            layout = layOut(part.map.segments, perByte, width);
        }
    }

    function drawBlock(to, bar, block, y) {
        const start = block.address - bar.segment.address;
        const from = Math.max(start, bar.from),
            until = Math.min(start + block.bytes, bar.to);
        if (until <= from || block.id < 0) return;
        const x = bar.x + (from - bar.from) * perByte,
            width = (until - from) * perByte;
        const line = memory.group[block.id],
            isPale = ui.group >= 0 && line !== ui.group;
        const hue = ui.palette.hues[memory.colour[block.id]];
        to.fillStyle = css(isPale ? blend(hue, ui.palette.surface, 0.82) : hue);
        to.fillRect(x, y, width > 3 ? width - 0.75 : width, BAR);
        if (block.isPending) {
            to.fillStyle = ui.stripes;
            to.fillRect(x, y, width, BAR);
        }
        if (block.id === ui.selected || block.id === ui.hovered) {
            to.strokeStyle = css(ui.palette.ink);
            to.lineWidth = 2;
            to.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), BAR - 2);
        }
    }

    part.draw = () => {
        part.map = mapAt(history, ui.moment);
        const width = Math.max(box.clientWidth - 1, 40);
        choose(width);
        const height = Math.max(layout.rows, 1) * (BAR + BAR_GAP);
        box.style.height = `${height}px`;
        const to = sizeCanvas(canvas, box.clientWidth, height);
        for (const bar of layout.bars) {
            const y = bar.row * (BAR + BAR_GAP),
                long = Math.max((bar.to - bar.from) * perByte, 1);
            to.fillStyle = css(ui.palette.free);
            to.fillRect(bar.x, y, long, BAR);
            for (const block of bar.segment.blocks) drawBlock(to, bar, block, y);
            to.strokeStyle = css(ui.palette.quiet);
            to.lineWidth = 1;
            if (long > 3) to.strokeRect(bar.x + 0.5, y + 0.5, long - 1, BAR - 1);
        }
        ui.sayPieces(part.map);
    };

    // The segment and the block below a point.
    part.look = (x, y) => {
        const row = Math.floor(y / (BAR + BAR_GAP));
        const bar = layout.bars.find(
            (b) => b.row === row && x >= b.x && x < b.x + Math.max((b.to - b.from) * perByte, 1.5),
        );
        if (!bar) return null;
        const address = bar.segment.address + bar.from + (x - bar.x) / perByte;
        return { segment: bar.segment, block: bar.segment.blocks.find((b) => address < b.address + b.bytes) };
    };
    return part;
}
