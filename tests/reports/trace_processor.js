// Runs Perfetto's trace processor as it is built for browsers, and joins it to the standard streams: what arrives are its
// requests, what is written are its replies, both as a TraceProcessorRpcStream.
//
//     node trace_processor.js FOLDER      where engine_bundle.js and trace_processor.wasm are
//
// The engine is a script for a web worker. It finds here the little of a worker that it asks for.
"use strict";

const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];

// Of an address that the engine asks for, the last part is the name of a file beside it.
class FileRequest {
  open(_method, address) {
    this.file = path.join(folder, path.basename(address));
  }
  send() {
    this.response = new Uint8Array(fs.readFileSync(this.file)).buffer;
  }
}

// The engine throws its own source at whoever looks at an uncaught error: the first words are enough.
for (const event of ["uncaughtException", "unhandledRejection"]) {
  process.on(event, (error) => {
    process.stderr.write(`trace processor: ${String(error).slice(0, 500)}\n`);
    process.exit(1);
  });
}

const port = { onmessage: null, postMessage: (reply) => fs.writeSync(1, reply) };
const silent = { log: () => {}, warn: () => {}, error: () => {} };
const worker = {
  TextDecoder, TextEncoder, URL, clearTimeout, crypto, performance, setTimeout,
  WorkerGlobalScope: class {},
  XMLHttpRequest: FileRequest,
  console: silent,
  importScripts: () => {},
  location: { href: "file:///engine_bundle.js" },
};
worker.self = worker;
vm.runInNewContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), worker);
const WorkerBytes = vm.runInContext("Uint8Array", worker); // the engine knows those of its own world only
worker.onmessage({ data: port });

process.stdin.on("data", (bytes) => port.onmessage({ data: new WorkerBytes(bytes) }));
