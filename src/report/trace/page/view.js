// SPDX-License-Identifier: MIT
// The part of the history that is seen. A position on the axis is a number of entries, or microseconds.

function firstAbove(values, value) {
    let from = 0,
        to = values.length;
    while (from < to) {
        const middle = (from + to) >> 1;
        if (values[middle] <= value) from = middle + 1;
        else to = middle;
    }
    return from;
}

function makeView(history) {
    const lastUs = history.n ? history.time[history.n - 1] : 0,
        view = { axis: "entries", from: 0, to: 1, hasTimes: lastUs > 0 }; // PyTorch 2.1 and older write no times
    view.timeOf = (moment) => (moment > 0 ? history.time[Math.min(moment, history.n) - 1] : 0);
    view.end = () => (view.axis === "time" ? Math.max(lastUs, 1) : Math.max(history.n, 1));
    view.at = (moment) => (view.axis === "time" ? view.timeOf(moment) : moment);
    view.moment = (position) =>
        view.axis === "time"
            ? firstAbove(history.time, position)
            : Math.max(0, Math.min(history.n, Math.floor(position)));
    // In the fields of the filter: seconds, or entries where there are no times.
    view.toField = (position) => {
        const moment = view.moment(position);
        return view.hasTimes ? String(Number((view.timeOf(moment) / 1e6).toFixed(6))) : String(moment);
    };
    view.fromField = (value, isStart) => {
        if (!view.hasTimes) return value;
        if (view.axis === "time") return value * 1e6;
        return Math.max(firstAbove(history.time, value * 1e6) - (isStart ? 1 : 0), 0); // a state lasts to the next entry
    };
    view.least = () => Math.min(view.end(), view.axis === "time" ? 20 : 8);
    view.set = (from, to) => {
        const span = Math.min(Math.max(to - from, view.least()), view.end());
        view.from = Math.max(0, Math.min(from, view.end() - span));
        view.to = view.from + span;
    };
    view.zoom = (factor, about) => view.set(about - (about - view.from) * factor, about + (view.to - about) * factor);
    view.setAxis = (axis) => {
        const isWhole = view.from <= 0 && view.to >= view.end(),
            from = view.moment(view.from),
            to = view.moment(view.to);
        view.axis = axis;
        view.set(isWhole ? 0 : view.at(from), isWhole ? view.end() : view.at(to));
    };
    view.set(0, view.end());
    return view;
}

// The moment that each of n columns shows.
function momentsOf(history, view, n) {
    const moments = new Int32Array(n);
    let last = view.moment(view.from);
    for (let i = 0; i < n; i++) {
        const next = view.moment(view.from + ((view.to - view.from) * (i + 1)) / n);
        moments[i] = peakWithin(history.total, last, Math.max(next, last));
        last = Math.max(next, last);
    }
    return moments;
}

function mostReserved(history, moments, i) {
    const from = i ? moments[i - 1] : moments[0];
    return history.reserved[peakWithin(history.reserved, Math.min(from, moments[i]), moments[i])];
}
