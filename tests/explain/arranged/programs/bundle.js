// SPDX-License-Identifier: MIT
// Bundle the modules of a web shop and print the size of each chunk: node bundle.js MODULES
'use strict';

const modules = Number(process.argv[2] || 1000);

function parse(number) {
  const nodes = [];
  for (let line = 0; line < 400; line++) {
    nodes.push({ type: 'CallExpression', line, callee: `widget_${number}_${line % 37}`, args: [{ type: 'Literal', value: number * line }] });
  }
  return { id: `src/module-${number}.js`, nodes, imports: [number >> 1, number >> 2] };
}

function mib(bytes) {
  return (bytes / 2 ** 20).toFixed(1);
}

const graph = new Map();
for (let number = 0; number < modules; number++) {
  graph.set(number, parse(number));
  if (number % 1000 === 0) {
    const { rss, heapUsed } = process.memoryUsage();
    console.log(`[bundle] ${number}/${modules} modules, heap ${mib(heapUsed)} MiB, rss ${mib(rss)} MiB`);
  }
}
const chunks = new Map();
for (const [number, module] of graph) {
  const chunk = module.imports[1] % 5;
  chunks.set(chunk, (chunks.get(chunk) || 0) + module.nodes.length);
  graph.set(number, null);
}
for (const [chunk, size] of chunks) console.log(`[bundle] chunk-${chunk}.js: ${size} nodes`);
