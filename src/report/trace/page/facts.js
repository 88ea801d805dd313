// SPDX-License-Identifier: MIT
// The answer of plimsoll trace, in words.

function writeFacts(ui) {
    const { answer, history } = ui,
        facts = byId("facts"),
        name = fileName(answer.snapshot);
    const add = (className, parts) => {
        const item = element("li", undefined, className);
        item.append(...parts);
        facts.append(item);
    };
    document.title = `${name} - plimsoll trace`;
    byId("name").textContent = name;
    byId("about").textContent =
        `device ${answer.device}, ${countText(answer.entries, "entry", "entries")}` +
        (history.n
            ? ui.view.hasTimes
                ? ` over ${ui.when(history.n - 1)}`
                : ""
            : ": no history, only what is held now") +
        `; settings: ${answer.settings === null ? "not written" : answer.settings || "default"}`;
    if (answer.oom) {
        const oom = answer.oom,
            place = oom.frame ? `${fileName(oom.frame.file)}:${oom.frame.line}` : "a request";
        add("alarm", [
            element("strong", "Out of memory"),
            ` at ${ui.when(oom.entry)}: ${place} asked for ${sizeText(oom.asked_bytes)}` +
                ` and ${sizeText(oom.device_free_bytes)} of the card were free. PyTorch had reserved ${sizeText(oom.reserved_bytes)}, ` +
                `${sizeText(oom.reserved_bytes - oom.allocated_bytes)} of it free in pieces.`,
        ]);
        const help = answer.replay.trials.find((trial) => trial.is_enough);
        if (oom.exceeds_capacity)
            add("", [
                element("strong", "No setting can help"),
                `: what is held and asked for is ${sizeText(oom.missing_bytes)} more than there is.`,
            ]);
        else if (help && help.settings)
            add("", [
                element("strong", "It would have got past this request"),
                " with ",
                element("code", `PYTORCH_CUDA_ALLOC_CONF=${help.settings}`),
            ]);
    }
    add("", [
        element("strong", "Peak"),
        ` ${sizeText(answer.peak.held.bytes)} requested` +
            (answer.peak.entry === null ? "" : ` at ${ui.when(answer.peak.entry)}`) +
            `, in blocks of ${sizeText(answer.peak.allocated_bytes)}; at most ${sizeText(answer.peak.reserved_bytes)} reserved.`,
    ]);
    byId("capacity-key").hidden = !ui.capacity;
    byId("capacity").textContent = ui.capacity
        ? `${sizeText(ui.capacity)}: the most that PyTorch could reserve, as the history tells`
        : "";
    for (const line of answer.growth ? answer.growth.lines : [])
        add(line.kind === "kept" ? "alarm" : "", growthWords(answer.growth, line));
}

function growthWords(growth, line) {
    const call = line.call
        ? ` (called from ${fileName(line.call.file)}:${line.call.line} ${line.call.function})`
        : "";
    const place = `: ${fileName(line.frame.file)}:${line.frame.line} ${line.frame.function}${call}`;
    const loop = `a loop of ${countText(growth.turns, "turn", "turns")}`;
    if (line.kind === "larger")
        return [
            element("strong", "Larger"),
            `${place} asks for more and more in ${loop}: ${sizeText(line.first_bytes)} for a turn of the first quarter, ` +
                `${sizeText(line.bytes)} for one of the last.`,
        ];
    if (line.kind === "late")
        return [
            element("strong", "Late"),
            `${place}: what several turns of ${loop} took is given back together, as reference cycles are; ` +
                `${sizeText(line.bytes)} at most.`,
        ];
    return [
        element("strong", "Grows"),
        `${place} keeps ${sizeText(line.bytes)} in ${countText(line.count, "allocation", "allocations")} from all quarters of ${loop}.`,
    ];
}
