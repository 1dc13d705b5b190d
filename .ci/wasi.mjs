// Runs a WebAssembly program under node's own WASI.
import { WASI } from 'node:wasi';
import fs from 'node:fs';
const root = process.env.WASI_ROOT ?? process.cwd();
const w = new WASI({ version: 'preview1', args: process.argv.slice(2), env: process.env, preopens: { '/': root } });
const nosys = () => 52;
const module = await WebAssembly.compile(fs.readFileSync(process.argv[2]));
// What std names beyond WASI (threads, links) is there, and says that it is not possible.
const env = Object.fromEntries(WebAssembly.Module.imports(module).filter((i) => i.module === 'env').map((i) => [i.name, nosys]));
w.start(await WebAssembly.instantiate(module, { ...w.getImportObject(), env }));
