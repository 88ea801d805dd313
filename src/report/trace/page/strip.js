// SPDX-License-Identifier: MIT
// The strip below the chart: the whole history, and which part of it is seen.

function makeStrip(ui) {
    const { history, view } = ui,
        box = byId("overview"),
        canvas = box.querySelector("canvas"),
        strip = { box };
    const most = Math.max(history.segments.most, 1);
    let width = 1,
        whole = null; // the picture of the whole history, which stays

    strip.xOf = (position) => (position / view.end()) * width;
    strip.positionOf = (x) => Math.max(0, Math.min(1, x / width)) * view.end();

    function drawWhole(height, key) {
        const moments = momentsOf(history, { ...view, from: 0, to: view.end() }, Math.round(width));
        whole = { key, image: new OffscreenCanvas(moments.length, height) };
        const to = whole.image.getContext("2d");
        moments.forEach((moment, x) => {
            to.fillStyle = css(ui.palette.rule);
            const reserved = (mostReserved(history, moments, x) / most) * (height - 4);
            to.fillRect(x, height - reserved, 1, reserved);
            to.fillStyle = css(ui.palette.quiet);
            const held = (history.total[moment] / most) * (height - 4);
            to.fillRect(x, height - held, 1, held);
        });
    }

    strip.draw = () => {
        width = Math.max(box.clientWidth - GUTTER - 1, 40);
        const height = box.clientHeight,
            to = sizeCanvas(canvas, box.clientWidth, height),
            key = [width, height, view.axis, ui.palette.dark].join();
        if (!whole || whole.key !== key) drawWhole(height, key);
        to.translate(GUTTER, 0);
        to.drawImage(whole.image, 0, 0, width, height);
        const from = strip.xOf(view.from),
            until = strip.xOf(view.to);
        to.fillStyle = css(ui.palette.surface).replace(")", " / 0.65)");
        to.fillRect(0, 0, from, height);
        to.fillRect(until, 0, width - until, height);
        to.strokeStyle = css(ui.palette.ink);
        to.lineWidth = 1.5;
        to.strokeRect(from + 0.75, 0.75, Math.max(until - from - 1.5, 1), height - 1.5);
        to.fillStyle = css(ui.palette.ink);
        for (const x of [from, until]) to.fillRect(x - 2.5, height / 2 - 8, 5, 16);
    };

    box.addEventListener("pointerdown", (event) => {
        const x = event.offsetX - GUTTER,
            from = strip.xOf(view.from),
            until = strip.xOf(view.to);
        const isWhole = view.from <= 0 && view.to >= view.end();
        let change = (at) => view.set(Math.min(at, strip.positionOf(x)), Math.max(at, strip.positionOf(x)));
        if (Math.abs(x - from) < 7) change = (at) => view.set(Math.min(at, view.to - view.least()), view.to);
        else if (Math.abs(x - until) < 7)
            change = (at) => view.set(view.from, Math.max(at, view.from + view.least()));
        else if (x > from && x < until && !isWhole) {
            const held = strip.positionOf(x) - view.from,
                span = view.to - view.from;
            change = (at) => view.set(at - held, at - held + span);
        }
        box.setPointerCapture(event.pointerId);
        box.onpointermove = (move) => {
            change(strip.positionOf(move.offsetX - GUTTER));
            ui.viewChanged();
        };
        event.preventDefault();
    });
    for (const name of ["pointerup", "pointercancel"])
        box.addEventListener(name, () => {
            box.onpointermove = null;
        });
    return strip;
}
