// Runs a WebAssembly program under node's own WASI.
import { WASI } from 'node:wasi';
import fs from 'node:fs';
const root = process.env.WASI_ROOT ?? process.cwd();
const w = new WASI({ version: 'preview1', args: process.argv.slice(2), env: process.env, preopens: { '/': root } });
const nosys = () => 52;
const module = await WebAssembly.compile(fs.readFileSync(process.argv[2]));
// What std names beyond WASI is there, and says that it is not possible: threads may be described, but not started.
const answer = (name) => (name.startsWith('pthread_attr_') ? () => 0 : nosys);
const env = Object.fromEntries(WebAssembly.Module.imports(module).filter((i) => i.module === 'env').map((i) => [i.name, answer(i.name)]));
w.start(await WebAssembly.instantiate(module, { ...w.getImportObject(), env }));
