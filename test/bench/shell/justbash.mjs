// Runs scripts, a JSON string a line, in just-bash on the data of a directory that it reads first.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { Bash } from "just-bash";

const dir = process.argv[2];
const files = {};
for (const e of fs.readdirSync(dir, { recursive: true, withFileTypes: true })) {
  if (e.isFile()) {
    const name = path.join(e.parentPath ?? e.path, e.name);
    files[name] = fs.readFileSync(name, "utf8");
  }
}
const many = 1e9;
const bash = new Bash({
  files,
  cwd: dir,
  executionLimits: { maxCommandCount: many, maxLoopIterations: many, maxCallDepth: 1000, maxAwkIterations: many, maxSedIterations: many, maxOutputSize: many, maxStringLength: many },
});
console.log("ready");
for await (const line of readline.createInterface({ input: process.stdin })) {
  const begin = performance.now();
  let r;
  try {
    const timeout = new Promise((_, no) => setTimeout(() => no(new Error("two minutes have passed")), 120000).unref());
    const res = await Promise.race([bash.exec(JSON.parse(line)), timeout]);
    r = { out: res.stdout, err: res.exitCode === 0 ? "" : `status ${res.exitCode}: ${res.stderr.slice(0, 200)}` };
  } catch (e) {
    r = { out: "", err: String(e).slice(0, 200) };
  }
  r.millis = performance.now() - begin;
  console.log(JSON.stringify(r));
}
