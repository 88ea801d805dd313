// SPDX-License-Identifier: MIT
// Make thumbnails in worker processes that keep decoded images: node thumbs_cluster.js WORKERS IMAGES SIDE
'use strict';
const cluster = require('node:cluster');

const [workers, images, side] = process.argv.slice(2).map(Number);
const say = (level, msg, more) => console.log(JSON.stringify({ level, pid: process.pid, msg, ...more }));

function decode(seed) {
  const pixels = Buffer.alloc(side * side * 3, seed % 255);
  pixels[0] = 1;
  return pixels;
}

if (cluster.isPrimary) {
  say('info', 'starting', { workers, images, side });
  let done = 0;
  for (let number = 0; number < workers; number++) cluster.fork({ PART: number });
  cluster.on('message', (worker, message) => {
    if (message.done) {
      done += message.done;
      worker.disconnect();
    }
  });
  cluster.on('exit', (worker, code, signal) => {
    if (code !== 0) {
      say('error', 'worker died', { worker: worker.process.pid, code, signal });
      process.exitCode = 1;
      for (const other of Object.values(cluster.workers)) other.process.kill('SIGTERM');
    }
  });
  process.on('exit', () => say('info', 'finished', { thumbnails: done }));
} else {
  const decoded = [];
  const step = (number) => {
    if (number >= images) {
      process.send({ done: decoded.length });
      return;
    }
    decoded.push(decode(number + Number(process.env.PART)));
    if (number % 20 === 0) say('debug', 'progress', { number, external: process.memoryUsage().external });
    setImmediate(step, number + 1);
  };
  step(0);
}
