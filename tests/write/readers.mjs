// Prints as JSON what h5wasm or jsfive finds in datasets: node readers.mjs READER FOLDER FILE PATH...
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [reader, folder, name, ...paths] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(`${folder}/node_modules/${path}`).href);

async function open() {
  if (reader === "h5wasm") {
    const h5wasm = (await load("h5wasm/dist/node/hdf5_hl.js")).default;
    await h5wasm.ready;
    return new h5wasm.File(name, "r");
  }
  const bytes = fs.readFileSync(name);
  const { File } = await load("jsfive/dist/esm/index.mjs");
  return new File(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), name);
}

const file = await open();
const said = {};
for (const path of paths) {
  const dataset = file.get(path);
  said[path] = { shape: Array.from(dataset.shape), values: Array.from(dataset.value, String) };
}
process.stdout.write(JSON.stringify(said));
