// SPDX-License-Identifier: MIT
// A chat with node-llama-cpp, all layers on the card.
import {getLlama, LlamaChatSession} from "node-llama-cpp";

const llama = await getLlama({gpu: "cuda", build: "never"});
const model = await llama.loadModel({modelPath: process.argv[2]});
const context = await model.createContext({contextSize: 1024});
const session = new LlamaChatSession({contextSequence: context.getSequence()});
const answer = await session.prompt("the", {maxTokens: 4});
console.log("chat:", llama.gpu, model.gpuLayers, typeof answer);
await llama.dispose();
