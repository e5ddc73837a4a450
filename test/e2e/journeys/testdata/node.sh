# npm with packages of the disk, the test runner, workers, servers, child processes.
# needs: node npm
mkdir -p ../lib; echo '{"name":"lib","version":"1.0.0","main":"i.js"}' >../lib/package.json; echo 'module.exports = () => "lib"' >../lib/i.js
cat >package.json <<'P'
{"name":"journey","version":"1.0.0","scripts":{"test":"node --test test.js","postinstall":"node -e 'console.error(1)'","start":"node main.js"},"dependencies":{"lib":"file:../lib"}}
P
cat >test.js <<'P'
const test = require("node:test"), assert = require("node:assert");
test("lib", () => assert.equal(require("lib")(), "lib"));
P
cat >main.js <<'P'
const { Worker } = require("worker_threads"), { fork, execFileSync } = require("child_process"), http = require("http"), fs = require("fs"), os = require("os"), net = require("net");
if (process.argv[2] === "child") { process.send("forked"); process.disconnect(); return; }
(async () => {
  console.log(await new Promise(r => new Worker('require("worker_threads").parentPort.postMessage("worked")', { eval: true }).on("message", r)));
  console.log(await new Promise(r => fork(__filename, ["child"]).on("message", r)));
  const s = http.createServer((_, res) => res.end("served")).listen(0, "127.0.0.1");
  await new Promise(r => s.on("listening", r));
  console.log(await (await fetch(`http://localhost:${s.address().port}/`)).text());
  s.close();
  const u = net.createServer(c => c.end("unix")).listen("s.sock");
  await new Promise(r => u.on("listening", r));
  console.log(await new Promise(r => net.connect("s.sock").on("data", d => r(String(d)))));
  u.close();
  console.log(execFileSync("sh", ["-c", "echo child"]).toString().trim(), fs.mkdtempSync(os.tmpdir() + "/x").length > 5);
  await new Promise(r => { const w = fs.watch(".", () => { w.close(); r(); }); setTimeout(() => fs.writeFileSync("watched", ""), 50); });
  console.log("watched");
})();
P
# inside
export npm_config_update_notifier=false
npm install --offline --no-audit --no-fund --loglevel error >/dev/null 2>&1
npm test --silent | grep -e '^# pass' -e '^# fail' -e '^ℹ pass' -e '^ℹ fail'
npm start --silent; npm ls --depth 0 | tail -n +2; npx --offline --no-install node -p '1 + 1'; rm -rf node_modules; npm ci --offline --silent; ls node_modules
