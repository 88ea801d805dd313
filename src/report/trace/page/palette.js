// SPDX-License-Identifier: MIT
// The colours of the style sheet, light or dark, and canvases in the resolution of the screen.

const MOST_SCALE = 2;

function blend(a, b, part) {
    return a.map((value, i) => Math.round(value + (b[i] - value) * part));
}

function pixel(colour) {
    return ((255 << 24) | (colour[2] << 16) | (colour[1] << 8) | colour[0]) >>> 0;
}

function css(colour) {
    return `rgb(${colour.join(" ")})`;
}

// The colours of the style sheet, light or dark.
function readPalette() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) =>
        [1, 3, 5].map((i) =>
            parseInt(
                style
                    .getPropertyValue(name)
                    .trim()
                    .slice(i, i + 2),
                16,
            ),
        );
    const palette = {
        surface: read("--surface"),
        ink: read("--ink"),
        quiet: read("--quiet"),
        rule: read("--rule"),
        alarm: read("--alarm"),
        font: style.getPropertyValue("--font"),
    };
    palette.hues = Array.from({ length: UNKNOWN + 1 }, (_, i) => read(`--hue-${i}`));
    palette.shades = Uint32Array.from(
        palette.hues.flatMap((hue) => [hue, blend(hue, palette.surface, 0.14)]),
        pixel,
    );
    palette.edge = Uint32Array.from(palette.hues, (hue) => pixel(blend(hue, palette.surface, 0.55)));
    palette.onHue = palette.hues.map((c) => (0.3 * c[0] + 0.59 * c[1] + 0.11 * c[2] > 140 ? "#0b0b0b" : "#ffffff"));
    return palette;
}

function sizeCanvas(canvas, width, height) {
    const scale = Math.min(window.devicePixelRatio || 1, MOST_SCALE);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const to = canvas.getContext("2d");
    to.setTransform(scale, 0, 0, scale, 0, 0);
    return to;
}
