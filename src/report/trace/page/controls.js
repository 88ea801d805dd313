// SPDX-License-Identifier: MIT
// What a pointer, keys and the controls do.

function connectChart(ui, chart) {
    const { box } = chart;
    let isDragged = false;
    const point = (event) => {
        const area = box.getBoundingClientRect();
        return [event.clientX - area.left, event.clientY - area.top];
    };
    box.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        const [x, y] = point(event),
            seen = chart.look(x, y);
        isDragged = true;
        box.setPointerCapture(event.pointerId);
        ui.select(seen.mark > 0 && seen.mark < SUMMED ? seen.mark - 1 : -1);
        ui.goTo(seen.moment);
    });
    box.addEventListener("pointermove", (event) => {
        const [x, y] = point(event),
            seen = chart.look(x, y);
        if (isDragged) {
            ui.goTo(seen.moment);
            return;
        }
        ui.hover(seen.mark > 0 && seen.mark < SUMMED ? seen.mark - 1 : -1);
        showTip(ui, box, x, y, x < GUTTER ? null : tipWords(ui, seen.mark, null));
    });
    for (const name of ["pointerup", "pointercancel"])
        box.addEventListener(name, () => {
            isDragged = false;
        });
    box.addEventListener("pointerleave", () => {
        ui.hover(-1);
        showTip(ui, box, 0, 0, null);
    });
    box.addEventListener(
        "wheel",
        (event) => {
            const [x] = point(event),
                span = ui.view.to - ui.view.from;
            if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                ui.view.set(
                    ui.view.from + (span * (event.deltaX || event.deltaY)) / 1000,
                    ui.view.to + (span * (event.deltaX || event.deltaY)) / 1000,
                );
            else ui.view.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), chart.positionOf(x));
            event.preventDefault();
            ui.viewChanged();
        },
        { passive: false },
    );
    box.addEventListener("keydown", (event) => {
        if (pressKey(ui, chart, event)) event.preventDefault();
    });
}

// A step of a moment: one entry where they can be told apart, else a column.
function stepOf(ui, chart) {
    return Math.max(1, Math.round((ui.view.moment(ui.view.to) - ui.view.moment(ui.view.from)) / chart.width));
}

function moveBand(ui, chart, by) {
    const bands = chart.bandsAt(ui.moment),
        at = bands.indexOf(ui.selected);
    if (bands.length)
        ui.select(bands[at < 0 ? (by > 0 ? 0 : bands.length - 1) : Math.max(0, Math.min(bands.length - 1, at + by))]);
}

function pressKey(ui, chart, event) {
    const { view, memory, history } = ui,
        span = view.to - view.from,
        step = stepOf(ui, chart) * (event.shiftKey ? 10 : 1);
    const pan = (by) => {
        view.set(view.from + by, view.to + by);
        ui.viewChanged();
    };
    const keys = {
        ArrowLeft: () => ui.goTo(ui.moment - step),
        ArrowRight: () => ui.goTo(ui.moment + step),
        ArrowUp: () => moveBand(ui, chart, 1),
        ArrowDown: () => moveBand(ui, chart, -1),
        Home: () => ui.goTo(view.moment(view.from)),
        End: () => ui.goTo(view.moment(view.to)),
        PageUp: () => pan(-span * 0.8),
        PageDown: () => pan(span * 0.8),
        "+": () => ui.zoomBy(0.5),
        "=": () => ui.zoomBy(0.5),
        "-": () => ui.zoomBy(2),
        0: () => ui.showWhole(),
        p: () => ui.show(memory.peak),
        e: () => ui.show(history.n),
        o: () => {
            if (memory.oom !== null) ui.show(memory.oom);
        },
        Escape: () => {
            ui.select(-1);
            ui.focusGroup(-1);
        },
    };
    const act =
        !event.ctrlKey &&
        !event.metaKey &&
        !event.altKey &&
        keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) act();
    return Boolean(act);
}

function connectSegments(ui, part) {
    const see = (event) => {
        const area = part.box.getBoundingClientRect();
        return part.look(event.clientX - area.left, event.clientY - area.top);
    };
    part.box.addEventListener("pointermove", (event) => {
        const seen = see(event),
            area = part.box.getBoundingClientRect(),
            block = seen && seen.block;
        ui.hover(block ? block.id : -1);
        showTip(
            ui,
            part.box,
            event.clientX - area.left,
            event.clientY - area.top,
            block ? tipWords(ui, block.id + 1, block) : null,
        );
    });
    part.box.addEventListener("pointerleave", () => {
        ui.hover(-1);
        showTip(ui, part.box, 0, 0, null);
    });
    part.box.addEventListener("click", (event) => {
        const seen = see(event);
        ui.select(seen && seen.block ? seen.block.id : -1);
    });
}

function connectControls(ui) {
    const { view, memory, history, answer } = ui,
        on = (id, act) => byId(id).addEventListener("click", act);
    on("go-peak", () => ui.show(memory.peak));
    on("go-oom", () => ui.show(memory.oom));
    on("go-end", () => ui.show(history.n));
    on("closer", () => ui.zoomBy(0.5));
    on("farther", () => ui.zoomBy(2));
    on("whole", () => ui.showWhole());
    byId("go-oom").hidden = memory.oom === null;
    byId("controls").addEventListener("submit", (event) => {
        const from = byId("from").valueAsNumber,
            to = byId("to").valueAsNumber;
        event.preventDefault();
        if (from >= 0 && to > from) {
            view.set(view.fromField(from, true), view.fromField(to, false));
            ui.viewChanged();
        }
    });
    byId("axis-part").hidden = !view.hasTimes;
    byId("unit").textContent = view.hasTimes ? "s" : "entries";
    byId("axis").addEventListener("change", (event) => {
        view.setAxis(event.target.value);
        ui.viewChanged();
    });
    byId("by").addEventListener("change", (event) => ui.groupBy(event.target.value));
    byId("by").options[1].disabled = !answer.peak.pillars && !(answer.oom && answer.oom.pillars);
    byId("held").addEventListener("click", (event) => {
        const button = event.target.closest("button.line");
        if (button) ui.focusGroup(Number(button.dataset.group) === ui.group ? -1 : Number(button.dataset.group));
    });
}
