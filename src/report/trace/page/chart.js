// SPDX-License-Identifier: MIT
// The chart of the history: the stack, what was reserved above it, names, marks, and the moment that is chosen.

const GUTTER = 62, // CSS pixels around it
    HEAD = 36,
    FOOT = 34;

function makeChart(ui) {
    const { history, memory, view, capacity } = ui,
        box = byId("stack"),
        [below, above] = box.querySelectorAll("canvas");
    const chart = { box, width: 0, height: 0 };
    const most = Math.max(
        history.segments.most,
        history.total.reduce((x, y) => Math.max(x, y), 0),
        1,
    );
    const full = capacity && capacity < 1.6 * most ? Math.max(capacity, most) * 1.02 : most * 1.04;
    let drawing = null,
        scale = 1;

    chart.xOf = (position) => GUTTER + ((position - view.from) / (view.to - view.from)) * chart.width;
    chart.positionOf = (x) =>
        view.from + Math.max(0, Math.min(1, (x - GUTTER) / chart.width)) * (view.to - view.from);
    const yOf = (bytes) => HEAD + chart.height * (1 - bytes / full);

    function measure() {
        scale = Math.min(window.devicePixelRatio || 1, MOST_SCALE);
        chart.width = Math.max(box.clientWidth - GUTTER - 1, 40);
        chart.height = Math.max(box.clientHeight - HEAD - FOOT, 40);
    }

    function drawGrid(to) {
        const step = roundBytes(full, 8);
        to.textAlign = "right";
        to.textBaseline = "middle";
        for (let bytes = 0; bytes < full; bytes += step) {
            to.fillStyle = css(ui.palette.rule);
            to.fillRect(GUTTER, Math.round(yOf(bytes)), chart.width, 1);
            to.fillStyle = css(ui.palette.quiet);
            to.fillText(bytes ? sizeText(bytes).replace(/\.0+ /, " ") : "0", GUTTER - 6, yOf(bytes));
        }
    }

    function drawTicks(to) {
        const step = Math.max(roundStep(view.to - view.from, chart.width / 110), view.axis === "time" ? 1e-3 : 1);
        const bottom = HEAD + chart.height,
            us = view.timeOf(view.moment(view.to)) - view.timeOf(view.moment(view.from)),
            digits = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(Math.max(us, 1) / 1e6))));
        to.textBaseline = "top";
        for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
            const x = chart.xOf(at),
                isLate = x > GUTTER + chart.width - 30;
            to.fillStyle = css(ui.palette.rule);
            to.fillRect(Math.round(x), bottom, 1, 4);
            to.textAlign = isLate ? "right" : x < GUTTER + 24 ? "left" : "center";
            to.fillStyle = css(ui.palette.quiet);
            if (view.hasTimes)
                to.fillText(
                    `${((view.axis === "time" ? at : view.timeOf(at)) / 1e6).toFixed(digits)} s`,
                    x,
                    bottom + 6,
                );
            if (view.axis === "entries" && at > 0) to.fillText(`entry ${at.toLocaleString("en")}`, x, bottom + 19);
        }
    }

    // The pixels of the stack, the other lines pale when one is looked at.
    function stackImage() {
        const { width, height, pixels, marks } = drawing.stack;
        let shown = pixels;
        if (ui.group >= 0) {
            const pale = ui.palette.hues.map((hue) => pixel(blend(hue, ui.palette.surface, 0.82)));
            shown = pixels.map((colour, i) => {
                const mark = marks[i];
                if (mark === 0 || (mark < SUMMED && memory.group[mark - 1] === ui.group)) return colour;
                return pale[mark < SUMMED ? memory.colour[mark - 1] : mark - SUMMED];
            });
        }
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(shown.buffer), width, height), 0, 0);
        return canvas;
    }

    // Columns in which memory was reserved and nothing held it, hatched; and its line.
    function drawReserved(to) {
        const n = drawing.moments.length,
            path = new Path2D(),
            line = new Path2D();
        path.moveTo(GUTTER, yOf(0));
        for (let i = 0; i < n; i++) {
            const y = yOf(mostReserved(history, drawing.moments, i)),
                x = GUTTER + i / scale;
            path.lineTo(x, y);
            path.lineTo(x + 1 / scale, y);
            line[i ? "lineTo" : "moveTo"](x, y);
            line.lineTo(x + 1 / scale, y);
        }
        path.lineTo(GUTTER + chart.width, yOf(0));
        to.fillStyle = ui.hatch;
        to.fill(path);
        return () => {
            to.strokeStyle = css(ui.palette.ink);
            to.lineWidth = 1.25;
            to.stroke(line);
        };
    }

    function drawNames(to) {
        const place = (frame) => (frame ? `${fileName(frame.file)}:${frame.line}` : "no stack");
        const write = (label, line, words) => {
            const fitting = words.find((text) => to.measureText(text).width <= (label.to - label.from) / scale - 8);
            if (!fitting || (ui.group >= 0 && line !== ui.group)) return;
            to.fillStyle = ui.palette.onHue[memory.groups[line].colour];
            to.fillText(
                fitting,
                GUTTER + label.from / scale + 4,
                HEAD + chart.height - (label.low + label.high) / 2 / scale + 0.5,
            );
        };
        to.textBaseline = "middle";
        to.textAlign = "left";
        for (const label of drawing.stack.groups)
            write(label, label.id, [
                memory.groups[label.id].text,
                ...(memory.by === "line" ? [place(memory.groups[label.id].frame)] : []),
            ]);
        for (const label of drawing.stack.labels) {
            const line = memory.group[label.id],
                frame = frameOf(history, label.id),
                size = sizeText(history.allocations.bytes[label.id]);
            write(label, line, [`${size}  ${frameText(frame)}`, `${size}  ${place(frame)}`, size]);
        }
    }

    // A name above a line; names do not cross the line at `right`.
    function drawMark(to, position, bytes, text, colour, row, right) {
        const x = chart.xOf(position),
            width = to.measureText(text).width,
            left = Math.max(GUTTER, Math.min(x - width / 2, GUTTER + chart.width - width));
        if (x < GUTTER - 0.5 || x > GUTTER + chart.width + 0.5) return;
        to.fillStyle = to.strokeStyle = colour;
        to.lineWidth = 1.5;
        to.beginPath();
        to.moveTo(x, row + 7);
        to.lineTo(x, bytes === null ? HEAD + chart.height : yOf(bytes));
        to.stroke();
        to.textBaseline = "middle";
        to.textAlign = "left";
        to.fillText(text, left < right && left + width > right - 6 ? right - 6 - width : left, row);
    }

    function drawMarks(to) {
        const bold = `600 12px ${ui.palette.font}`;
        if (capacity && capacity <= full) {
            to.strokeStyle = css(ui.palette.alarm);
            to.lineWidth = 1;
            to.setLineDash([5, 4]);
            to.beginPath();
            to.moveTo(GUTTER, yOf(capacity));
            to.lineTo(GUTTER + chart.width, yOf(capacity));
            to.stroke();
            to.setLineDash([]);
        }
        to.font = bold;
        const oom = memory.oom === null ? Infinity : view.axis === "time" ? history.time[memory.oom] : memory.oom;
        drawMark(
            to,
            view.at(memory.peak),
            history.total[memory.peak],
            `peak ${sizeText(history.total[memory.peak])}`,
            css(ui.palette.ink),
            27,
            chart.xOf(oom),
        );
        if (memory.oom === null) return;
        const words = ["out of memory", `out of memory, ${sizeText(ui.answer.oom.asked_bytes)} asked for`],
            fitting = words.filter((text) => to.measureText(text).width <= chart.width).pop() || "";
        drawMark(to, oom, null, fitting, css(ui.palette.alarm), 9, Infinity);
    }

    chart.draw = () => {
        measure();
        const to = sizeCanvas(below, box.clientWidth, box.clientHeight);
        const columns = Math.round(chart.width * scale),
            rows = Math.round(chart.height * scale);
        const key = [columns, rows, view.axis, view.from, view.to, ui.palette.dark, memory.by].join();
        if (!drawing || drawing.key !== key) {
            const moments = momentsOf(history, view, columns);
            drawing = { key, moments, stack: paintStack(history, memory, moments, rows, full, ui.palette, scale) };
        }
        to.font = `11px ${ui.palette.font}`;
        drawGrid(to);
        const strokeReserved = drawReserved(to);
        to.drawImage(stackImage(), GUTTER, HEAD, columns / scale, rows / scale);
        strokeReserved();
        drawNames(to);
        to.font = `11px ${ui.palette.font}`;
        drawTicks(to);
        drawMarks(to);
        chart.drawAbove();
    };

    // What moves with the pointer and the keys: the moment, and the band that is looked at.
    chart.drawAbove = () => {
        const to = sizeCanvas(above, box.clientWidth, box.clientHeight),
            x = chart.xOf(view.at(ui.moment));
        const id = ui.hovered >= 0 ? ui.hovered : ui.selected;
        if (id >= 0) drawBand(to, id);
        if (x < GUTTER - 1 || x > GUTTER + chart.width + 1) return;
        to.fillStyle = css(ui.palette.ink);
        to.fillRect(x - 0.75, HEAD - 4, 1.5, chart.height + 8);
        to.beginPath();
        to.arc(x, HEAD + chart.height + 4, 4.5, 0, 7);
        to.fill();
    };

    function drawBand(to, id) {
        const { width, height, marks } = drawing.stack,
            image = new ImageData(width, height),
            pixels = new Uint32Array(image.data.buffer);
        const ink = pixel(ui.palette.ink),
            is = (at) => marks[at] === id + 1;
        const [a, b] = [history.allocations.start[id], history.allocations.end[id]].map((m) =>
            chart.xOf(view.at(Math.min(m, history.n))),
        );
        const from = Math.max(0, Math.floor((a - GUTTER) * scale) - 2),
            to_ = Math.min(width, Math.ceil((b - GUTTER) * scale) + 2);
        for (let y = 0; y < height; y++)
            for (let x = from, at = y * width + from; x < to_; x++, at++)
                if (
                    is(at) &&
                    (x === 0 || x === width - 1 || !is(at - 1) || !is(at + 1) || !is(at - width) || !is(at + width))
                )
                    pixels[at] = ink;
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d").putImageData(image, 0, 0);
        to.drawImage(canvas, GUTTER, HEAD, width / scale, height / scale);
    }

    // The mark and the moment below a point of the chart.
    chart.look = (x, y) => {
        const { width, height, marks } = drawing.stack;
        const column = Math.max(0, Math.min(width - 1, Math.floor((x - GUTTER) * scale))),
            row = Math.floor((y - HEAD) * scale);
        return { moment: drawing.moments[column], mark: row >= 0 && row < height ? marks[row * width + column] : 0 };
    };
    // The bands of the moment from the bottom up.
    chart.bandsAt = (moment) => liveAt(history, moment, false);
    return chart;
}
