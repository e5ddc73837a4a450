# A search through a repository with dependencies in memory, without native programs.
# needs: rg
# flags: --backend virtual -q
git init -q
mkdir -p src; for n in $(seq 200); do printf 'line\nconst v%s = require("p%s"); // TODO %s\n' $n $n $((n % 7)) >src/f$n.js; done
mkdir -p node_modules/p{1..500}/lib; for n in $(seq 500); do echo "module.exports = $n;" >node_modules/p$n/index.js; printf '{"name":"p%s","version":"1.%s.0"}\n' $n $n >node_modules/p$n/package.json; echo x >node_modules/p$n/lib/a.js; done
echo node_modules >.gitignore
# inside
rg -c 'TODO 3' | sort | head -3; rg -l 'module.exports' | wc -l; rg -l --no-ignore 'module.exports' | wc -l
grep -rl 'TODO 5' src | wc -l; find node_modules -name '*.js' | wc -l; find . -type d -name lib | sort | tail -1
sed -i 's/TODO 6/DONE/' src/*.js; grep -rh DONE src | wc -l; cat src/*.js | wc -lc; awk '/require/ { n++ } END { print n }' src/*.js
cat node_modules/p1*/package.json | jq -r .version | sort -t. -k2n | tail -1; ls node_modules | wc -l; du -s --apparent-size -b src/f1.js | cut -f1
mkdir -p out && cp -r src out && mv out/src/f1.js out/first.js ; diff -r src out/src || true; tar cf - src | tar tf - | wc -l; rm -r out; test -e out || echo gone
