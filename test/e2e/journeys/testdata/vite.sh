# A project with vite and vitest: tests in processes, a build, a development server that sees changes. npm fetches the packages once.
# needs: node npm
export npm_config_update_notifier=false npm_config_fetch_retries=0
[ -e $CACHE/vite/.complete ] || {
  mkdir -p $CACHE/vite && cd $CACHE/vite && echo '{"private":true}' >package.json
  npm install --cache $CACHE/npm --no-audit --no-fund --loglevel error vite@5 vitest@2 >&2 || { echo "npm cannot fetch vite and vitest" >&2; exit 75; }
  touch .complete; cd "$OLDPWD"
}
cp -a $CACHE/vite/node_modules .
echo '{"name":"journey","private":true,"type":"module"}' >package.json
mkdir src; echo 'export const add = (a, b) => a + b;' >src/add.js; echo 'import { add } from "./add.js"; document.title = add(40, 2);' >src/main.js
echo '<!doctype html><title></title><script type="module" src="/src/main.js"></script>' >index.html
cat >add.test.js <<'P'
import { expect, test } from "vitest";
import { add } from "./src/add.js";
test.each([[1, 2, 3], [40, 2, 42]])("%i + %i", (a, b, sum) => expect(add(a, b)).toBe(sum));
P
cat >serve.mjs <<'P'
import { createServer } from "vite";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
const server = await createServer({ logLevel: "silent", server: { host: "127.0.0.1", port: 0 } });
await server.listen();
const get = async () => (await fetch(`http://127.0.0.1:${server.httpServer.address().port}/src/add.js?t=${Date.now()}`)).text();
console.log((await get()).includes("a + b"));
const changed = once(server.watcher, "change");
const timer = setInterval(() => writeFileSync("src/add.js", "export const add = (a, b) => b + a;\n"), 100);
await changed;
clearInterval(timer);
console.log((await get()).includes("b + a"));
await server.close();
process.exit(0);
P
# inside
npx --no-install vitest run --reporter=json 2>/dev/null | node -pe 'const r = JSON.parse(require("fs").readFileSync(0)); [r.numPassedTests, r.numFailedTests, r.success].join(" ")'
npx --no-install vite build --logLevel error; ls dist/assets | sed 's/-[^.]*//'
node serve.mjs
