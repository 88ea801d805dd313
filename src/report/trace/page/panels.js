// SPDX-License-Identifier: MIT
// What the page says of a moment and of an allocation: the table of lines, the stack, the tip at the pointer.

const MOST_ROWS_HELD = 14;

function momentText(ui) {
    const { memory, moment, history } = ui;
    const name =
        moment === memory.oom
            ? "when memory ran out, "
            : moment === memory.peak
              ? "at the peak, "
              : moment === history.n
                ? "at the end, "
                : "at ";
    const entry = moment === memory.oom ? moment : moment - 1;
    return history.n ? `${name}${entry < 0 ? "the beginning" : ui.when(entry)}` : "now";
}

function chip(colour) {
    return element("span", undefined, `chip hue-${colour}`);
}

function heldRow(ui, row, total) {
    const { memory } = ui,
        line = memory.groups[row.group],
        made = document.createElement("tr");
    const bytes = element("td", sizeText(row.bytes)),
        name = document.createElement("td");
    const bar = element("span", undefined, `bar hue-${line.colour}`),
        button = element("button", undefined, "line");
    bytes.dataset.bytes = row.bytes;
    bar.style.width = `${Math.max((100 * row.bytes) / Math.max(total, 1), 1)}%`;
    button.type = "button";
    button.setAttribute("aria-pressed", String(ui.group === row.group));
    button.append(chip(line.colour), line.text);
    button.title = line.frame ? `${line.frame.file}:${line.frame.line}` : "";
    button.dataset.group = row.group;
    name.append(button, bar);
    made.append(bytes, element("td", row.n.toLocaleString("en")), name);
    return made;
}

function writeHeld(ui) {
    const { history, memory } = ui,
        held = heldAt(history, memory, ui.moment),
        body = byId("held").tBodies[0];
    const focused =
        document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.group : undefined;
    const rest = held.rows.slice(MOST_ROWS_HELD);
    byId("moment").textContent = momentText(ui);
    byId("sums").textContent =
        `${sizeText(held.bytes)} requested in ${countText(held.n, "allocation", "allocations")}; ` +
        `${sizeText(history.reserved[ui.moment])} reserved`;
    byId("sums").dataset.bytes = held.bytes;
    byId("sums").dataset.reserved = history.reserved[ui.moment];
    body.replaceChildren(...held.rows.slice(0, MOST_ROWS_HELD).map((row) => heldRow(ui, row, held.rows[0].bytes)));
    if (rest.length) {
        const sum = (of) => rest.reduce((total, row) => total + of(row), 0),
            made = document.createElement("tr");
        made.append(
            element("td", sizeText(sum((row) => row.bytes))),
            element("td", sum((row) => row.n).toLocaleString("en")),
            element("td", countText(rest.length, "other line", "other lines"), "quiet"),
        );
        body.append(made);
    }
    const again = focused && body.querySelector(`button[data-group="${focused}"]`);
    if (again) again.focus();
    const stack = byId("stack");
    stack.setAttribute("aria-valuemax", history.n);
    stack.setAttribute("aria-valuenow", ui.moment);
    stack.setAttribute("aria-valuetext", `${momentText(ui)}: ${byId("sums").textContent}`);
}

function sayPieces(ui, map) {
    const pieces = byId("pieces");
    pieces.textContent = map.segments.length
        ? `${sizeText(map.bytes)} in ${countText(map.segments.length, "segment", "segments")}: blocks of ${sizeText(map.used)} in use` +
          (map.pending ? `, ${sizeText(map.pending)} given back but in use by other streams` : "") +
          (map.free ? `, ${sizeText(map.free)} free, the largest piece ${sizeText(map.largestFree)}` : "") +
          "." +
          (ui.answer.replay.is_equal || !ui.history.n
              ? ""
              : " About: the replay does not meet the history, and blocks are its own.")
        : "No segment is there.";
    pieces.dataset.used = map.used;
    pieces.dataset.bytes = map.bytes;
}

function lifeText(ui, id) {
    const a = ui.history.allocations,
        from = a.start[id],
        until = a.end[id];
    const time = (moment) => ui.when(moment - 1);
    const taken = from === 0 ? "taken before the history" : `taken at ${time(from)}`;
    return until > ui.history.n ? `${taken}, held to the end` : `${taken}, given back at ${time(until)}`;
}

function briefWords(ui, id) {
    const a = ui.history.allocations,
        stack = ui.history.stacks[a.stack[id]];
    return {
        title: sizeText(a.bytes[id]),
        life: lifeText(ui, id),
        pillar: a.pillar[id] < PILLARS.length - 1 ? PILLARS[a.pillar[id]].text : "",
        colour: ui.memory.colour[id],
        frames: stack ? stack.frames : [],
    };
}

// All of one allocation: kept until another is chosen.
function writeOne(ui) {
    const one = byId("one"),
        id = ui.selected;
    if (id < 0) {
        one.replaceChildren(
            element("p", "Point at a band or a block to see what it is; click to keep it here.", "quiet"),
        );
        return;
    }
    const a = ui.history.allocations,
        words = briefWords(ui, id),
        title = element("p", undefined, "title"),
        facts = element("dl"),
        list = element("ol");
    const add = (name, value) => facts.append(element("dt", name), element("dd", value));
    const own = frameOf(ui.history, id),
        button = element("button", "Show its life");
    title.append(chip(words.colour), element("strong", words.title), ` ${words.life}`);
    add("bytes", a.bytes[id].toLocaleString("en"));
    add("block", a.address[id] < 0 ? "unknown" : `${sizeText(a.block[id])} at 0x${a.address[id].toString(16)}`);
    if (words.pillar) add("for", words.pillar);
    if (a.start[id] > 0)
        add(
            "stream",
            a.stream[id] < ui.history.streams.length
                ? `0x${ui.history.streams[a.stream[id]].toString(16)}`
                : "unknown",
        );
    button.type = "button";
    button.addEventListener("click", () => ui.showLife(id));
    one.replaceChildren(title, facts, button, ...stackOf(words.frames, own));
}

// The stack, frames of Python first to be seen: those of native code are shown when asked for.
function stackOf(frames, own) {
    const isPython = (frame) => frame.file.endsWith(".py"),
        nNative = frames.filter((frame) => !isPython(frame)).length;
    if (!frames.length) return [element("p", "No stack was recorded.", "quiet")];
    const list = element("ol"),
        label = element("label", undefined, "quiet"),
        box = document.createElement("input");
    list.id = "frames";
    for (const frame of frames) {
        const item = element("li", undefined, frame === own ? "own" : isPython(frame) ? "" : "native");
        item.append(element("span", frame.name), element("span", ` ${shortPath(frame.file)}:${frame.line}`, "place"));
        item.title = frame.file;
        list.append(item);
    }
    if (!nNative || nNative === frames.length) return [list];
    box.type = "checkbox";
    box.addEventListener("change", () => list.classList.toggle("brief", !box.checked));
    list.className = "brief";
    label.append(box, ` ${countText(nNative, "frame", "frames")} of native code`);
    return [label, list];
}

// --- the tip at the pointer ---

function tipWords(ui, mark, block) {
    if (mark >= SUMMED)
        return [
            element("strong", "small allocations"),
            element(
                "div",
                mark - SUMMED === UNKNOWN
                    ? "without a stack"
                    : mark - SUMMED === OTHER
                      ? "of other lines"
                      : `of ${ui.memory.groups.find((group) => group.colour === mark - SUMMED).text}`,
            ),
        ];
    if (mark > 0) {
        const words = briefWords(ui, mark - 1),
            own = frameOf(ui.history, mark - 1);
        const frames = own ? [own] : [];
        return [
            chip(words.colour),
            element("strong", words.title),
            element("div", words.life),
            ...(words.pillar ? [element("div", words.pillar)] : []),
            ...frames.map((frame) => element("div", frameText(frame), "own")),
        ];
    }
    if (block)
        return [
            element("strong", `${sizeText(block.bytes)} free`),
            element("div", "in a segment that PyTorch has reserved"),
        ];
    return null;
}

function showTip(ui, host, x, y, words) {
    const tip = byId("tip");
    tip.hidden = !words;
    if (!words) return;
    host.append(tip);
    tip.replaceChildren(...words);
    const left = Math.max(0, Math.min(x + 14, host.clientWidth - tip.offsetWidth));
    tip.style.left = `${left}px`;
    tip.style.top = `${y + 18}px`;
}
