// SPDX-License-Identifier: MIT
// The page: its state, and what changes what.

function makeUi() {
    const answer = JSON.parse(byId("answer").textContent),
        history = readHistory(byId("history").textContent);
    history.next = new Int32Array(history.allocations.n);
    history.previous = new Int32Array(history.allocations.n);
    const memory = makeMemory(history, answer),
        view = makeView(history),
        us = history.n ? history.time[history.n - 1] : 0;
    const digits = us < 1e6 ? 4 : us < 1e8 ? 3 : 2;
    const capacity = answer.replay.capacity_bytes;
    return {
        answer,
        history,
        memory,
        capacity,
        view,
        line: -1,
        selected: -1,
        hovered: -1,
        moment: memory.oom !== null ? memory.oom : memory.peak,
        when: (entry) => (view.hasTimes ? `${(history.time[entry] / 1e6).toFixed(digits)} s` : `entry ${entry}`),
    };
}

function pattern(size, colour, width) {
    const canvas = new OffscreenCanvas(size, size),
        to = canvas.getContext("2d");
    to.strokeStyle = colour;
    to.lineWidth = width;
    for (const shift of [-size, 0, size]) {
        to.moveTo(shift - 1, size + 1);
        to.lineTo(shift + size + 1, -1);
    }
    to.stroke();
    return to.createPattern(canvas, "repeat");
}

function takePalette(ui) {
    ui.palette = readPalette();
    ui.palette.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    ui.palette.free = ui.palette.surface;
    ui.hatch = pattern(7, css(ui.palette.rule), 1.5);
    ui.stripes = pattern(6, css(ui.palette.surface), 2.5);
}

function main() {
    const ui = makeUi(),
        { view, history } = ui;
    takePalette(ui);
    writeFacts(ui);
    ui.sayPieces = (map) => sayPieces(ui, map);
    const chart = makeChart(ui),
        strip = makeStrip(ui),
        part = makeSegments(ui),
        due = new Set();
    const acts = {
        view: () => {
            if (!history.n) return; // there is no chart
            chart.draw();
            strip.draw();
        },
        above: () => history.n && chart.drawAbove(),
        held: () => writeHeld(ui),
        map: part.draw,
        one: () => writeOne(ui),
    };
    function drawAll() {
        if (due.has("view")) due.delete("above"); // which it draws as well
        const names = ["view", "above", "held", "map", "one"].filter((name) => due.has(name));
        due.clear();
        for (const name of names) acts[name]();
    }
    function ask(...names) {
        if (!due.size) requestAnimationFrame(drawAll);
        names.forEach((name) => due.add(name));
    }
    ui.viewChanged = () => {
        byId("from").value = view.toField(view.from);
        byId("to").value = view.toField(view.to);
        ask("view");
    };
    ui.goTo = (moment) => {
        ui.moment = Math.max(0, Math.min(history.n, moment));
        ask("above", "held", "map");
    };
    ui.show = (moment) => {
        const at = view.at(moment),
            span = view.to - view.from;
        if (at < view.from || at > view.to) {
            view.set(at - span / 2, at + span / 2);
            ui.viewChanged();
        }
        ui.goTo(moment);
    };
    ui.select = (id) => {
        ui.selected = id;
        ask("above", "map", "one");
    };
    ui.hover = (id) => {
        if (id !== ui.hovered) {
            ui.hovered = id;
            ask("above", "map");
        }
    };
    ui.groupBy = (name) => {
        ui.memory.groupBy(name);
        ui.focusGroup(-1);
        ask("one");
    };
    ui.focusGroup = (group) => {
        ui.group = group;
        ask("view", "held", "map");
    };
    ui.zoomBy = (factor) => {
        const at = view.at(ui.moment);
        view.zoom(factor, at >= view.from && at <= view.to ? at : (view.from + view.to) / 2);
        ui.viewChanged();
    };
    ui.showWhole = () => {
        view.set(0, view.end());
        ui.viewChanged();
    };
    ui.showLife = (id) => {
        const from = view.at(history.allocations.start[id]),
            to = view.at(Math.min(history.allocations.end[id], history.n)),
            edge = (to - from) * 0.15;
        view.set(from - edge, to + edge);
        ui.viewChanged();
    };
    connectChart(ui, chart);
    connectSegments(ui, part);
    connectControls(ui);
    byId("history-part").hidden = history.n === 0;
    new ResizeObserver(() => ask("view", "map")).observe(document.querySelector("main"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        takePalette(ui);
        ask("view", "map");
    });
    ui.viewChanged();
    ui.goTo(ui.moment);
    writeOne(ui);
}

main();
