package virtual

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// many returns s again and again, n bytes in total.
func many(s string, n int) string {
	return `$(yes '` + s + `' | tr -d '\n' | head -c ` + strconv.Itoa(n) + `)`
}

// nested are long or nested inputs of programs that read a language. Their memory is heldPeak at most.
var nested = []attack{
	{name: "find with many parentheses", script: `set -f; find / ` + many("( ", 300_000), held: true},
	{name: "find with many negations", script: `set -f; find / ` + many("! ", 200_000) + ` -name a`, held: true},
	{name: "expr with many parentheses", script: `set -f; expr ` + many("( ", 300_000), held: true},
	{name: "test with many parentheses", script: `env test ` + many("( ", 300_000), held: true},
	{name: "date with many words", script: `date -d "` + many("next ", 300_000) + `"; date -d "` + many("(", 500_000) + `"`, held: true},
	{name: "jq with many suffixes", script: `echo ".` + many("[0]", 600_000) + `" > f; jq -n -f f`, held: true, limit: shell.ErrMemory, says: noMemory},
	{name: "jq with many commas", script: `echo "` + many("1,", 600_000) + `1" > f; jq -n -f f`, held: true, limit: shell.ErrMemory, says: noMemory},
	{name: "jq with some suffixes", script: `echo ".` + many("[0]", 30_000) + `" > f; jq -n -f f`, held: true, says: "nested too deep"},
	{name: "jq with many conditions", script: `echo "` + many("if 1 then 1 elif ", 30_000) + `" > f; jq -n -f f`, held: true, says: "nested too deep"},
	{name: "jq with a deep value", script: `jq -n 'reduce range(1000000) as $i (0; [.]) | tojson | length'`, held: true},
	{name: "jq that sets a deep path", script: `jq -n '[range(1000000) | 0] as $p | null | setpath($p; 1) | length'`, held: true},
	{name: "awk with a long sum", script: `echo "BEGIN { print ` + many("1+", 600_000) + `1 }" > f; awk -f f`, held: true, says: noMemory},
	{name: "awk with some operators in a row", script: `echo "BEGIN { print ` + many("1+", 40_000) + `1 }" > f; awk -f f`, held: true},
	{name: "awk with many subscripts", script: `echo "BEGIN { ` + many("a[", 600_000) + `" > f; awk -f f`, held: true, says: noMemory},
	{name: "awk with fields of signs", script: `echo 'BEGIN { $'"` + many("-", 5_000) + `1 }" > f; awk -f f`, held: true},
	{name: "awk with many getlines", script: `echo "BEGIN { ` + many("getline < ", 30_000) + `1 }" > f; awk -f f`, held: true, says: "nested too deeply"},
	{name: "bc with a long sum", script: `echo "` + many("1+", 600_000) + `1" | bc`, held: true, says: "nested too deeply"},
	{name: "bc with many negations", script: `echo "` + many("!", 600_000) + `1" | bc`, held: true},
	{name: "dc that calls itself", script: `echo '[lax1]salax' | dc`, held: true},
	{name: "dc with a stack without end", script: `yes 1 | dc`, held: true},
	{name: "sed with many blocks", script: `echo "` + many("{", 600_000) + `" > f; sed -f f /keep`, held: true},
	{name: "grep with many look-aheads", script: `echo "` + many("(?=", 600_000) + `" > f; grep -P -f f /keep`, held: true},
	{name: "rg with many braces", script: `rg -g "` + many("{", 300_000) + `" a`, held: true},
	{name: "yq with many lists", script: `echo "` + many("[", 600_000) + `" > f; yq . f`, held: true},
	{name: "yq with many dashes", script: `echo "` + many("- ", 400_000) + `" > f; yq . f`, held: true},
	{name: "file of many arrays", script: `echo "` + many("[", 600_000) + `" > f; file f`, held: true},
	{name: "diff with many conditions", script: `diff --changed-group-format="` + many("%(A=B?", 200_000) + `" /keep /dev/null`, held: true},
	{name: "curl with a file that includes itself", script: `echo '-K f' > f; echo 'config = f' >> f; curl -K f http://127.0.0.1/`, held: true},
	{name: "a shell that reads zeros", script: `bash < /dev/zero`, held: true},
	{name: "a pattern of many groups", script: `shopt -s extglob; x=` + many("@(", 200_000) + `; y=` + many(")", 100_000) + `; echo $x$y`, held: true},
	{name: "programs in deep directories", script: `for i in {1..1500}; do mkdir a; cd a; done; cd /proj; for c in tree "tree -J" du "ls -R" "find ." "cp -r a b" "chmod -R 755 a" "tar cf t a" "grep -r x a" "rm -rf a b"; do $c > /dev/null; done`, held: true},
	{name: "sort -m of yes", script: `sort -m <(yes) <(yes n) > /dev/null`, held: true},
	{name: "stat with a wide format", script: `stat -c %999999999n / > /dev/null; stat -c %.999999999Y / > /dev/null`, held: true},
	{name: "date with wide fields", script: `date +%999999999N > /dev/null; date +%_999999999d%^999999999B > /dev/null`, held: true},
	{name: "printf of a wide argument", script: `printf '%*s' 999999999 a > /dev/null; env printf '%*s' 999999999 a > /dev/null`, held: true},
	{name: "awk of a wide argument", script: `awk 'BEGIN { printf "%*d", 999999999, 1 }' > /dev/null`, held: true},
	{name: "tr of a range of many", script: `yes | tr -s '[y*2147483647]' > /dev/null`, held: true},
	{name: "sed with two spaces that grow", script: `yes | sed 'H;G;h' > /dev/null`, held: true},
	{name: "sed that appends lines", script: `yes | sed ':a;N;ba'`, held: true, says: "couldn't re-allocate memory"},
	{name: "base64 of a line without end", script: `yes | tr -d '\n' | base64 -d > /dev/null`, held: true},
	{name: "tar of a long name", script: `head -c 9000000 /dev/zero | tr '\0' a > big; tar cf - big | tar tf - > /dev/null`, held: true},
	{name: "zip of a big file", script: `yes | head -c 9000000 > big; zip -q - big > z; unzip -p z > /dev/null`, held: true},
	{name: "xargs with replacements", script: `yes {} | tr -d '\n' | head -c 100000 | xargs -I{} echo {}{}{}{}{}{}{}{} > /dev/null`, held: true},
	{name: "paste of many columns", script: `yes | head -c 3000000 | paste -s -d, > /dev/null`, held: true},
	{name: "column of wide cells", script: `yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaa | column -t > /dev/null`, held: true},
	{name: "column as JSON without end", script: `yes | column -J -N a > /dev/null`, held: true},
}
