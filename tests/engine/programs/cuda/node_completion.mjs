// SPDX-License-Identifier: MIT
// A completion with llama.node, all layers on the card.
import {createRequire} from "node:module";

const {loadModel} = createRequire(import.meta.url)("@fugood/llama.node");
const context = await loadModel({model: process.argv[2], n_ctx: 1024, n_gpu_layers: 99, lib_variant: "cuda"});
const {tokens_predicted} = await context.completion({prompt: "the", n_predict: 4});
console.log("completion:", tokens_predicted);
await context.release();
