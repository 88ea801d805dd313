// SPDX-License-Identifier: MIT
// Figures and elements, as words. Texts of a snapshot become text nodes, never HTML.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

// As plimsoll writes sizes: four digits.
function sizeText(bytes) {
    if (bytes < 1024) return `${bytes} B`;
    let unit = 1,
        value = bytes / 1024;
    for (; value >= 1023.995 && unit + 1 < UNITS.length; unit++) value /= 1024;
    return `${value.toFixed(value >= 1000 ? 0 : value >= 100 ? 1 : 2)} ${UNITS[unit]}`;
}

function countText(n, one, many) {
    return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

// A round step of which about n make up the range.
function roundStep(range, n) {
    const raw = Math.max(range / n, 1e-9);
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= raw);
}

// The same for bytes: powers of two of a unit read better.
function roundBytes(range, n) {
    return 2 ** Math.ceil(Math.log2(Math.max(range / n, 1)));
}

function byId(id) {
    return document.getElementById(id);
}

function element(tag, text, className) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
}

// The part of a path that tells files apart.
function fileName(path) {
    return path.slice(path.lastIndexOf("/") + 1);
}

// A path without the folder of installed packages.
function shortPath(path) {
    const at = path.lastIndexOf("-packages/");
    return at < 0 ? path : path.slice(at + "-packages/".length);
}

function frameText(frame) {
    return frame ? `${fileName(frame.file)}:${frame.line} ${frame.name}` : "no stack was recorded";
}
