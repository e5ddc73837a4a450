package virtual

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// many returns s again and again, n bytes in total.
func many(s string, n int) string {
	return `$(yes '` + s + `' | tr -d '\n' | head -c ` + strconv.Itoa(n) + `)`
}

// nested are long or nested inputs of programs that read a language.
var nested = []attack{
	{name: "find with many parentheses", script: `set -f; find / ` + many("( ", 300_000)},
	{name: "find with many negations", script: `set -f; find / ` + many("! ", 200_000) + ` -name a`},
	{name: "expr with many parentheses", script: `set -f; expr ` + many("( ", 300_000)},
	{name: "test with many parentheses", script: `env test ` + many("( ", 300_000)},
	{name: "date with many words", script: `date -d "` + many("next ", 300_000) + `"; date -d "` + many("(", 500_000) + `"`},
	{name: "jq with many suffixes", script: `echo ".` + many("[0]", 600_000) + `" > f; jq -n -f f`, limit: shell.ErrMemory, says: noMemory},
	{name: "jq with many commas", script: `echo "` + many("1,", 600_000) + `1" > f; jq -n -f f`, limit: shell.ErrMemory, says: noMemory},
	{name: "jq with some suffixes", script: `echo ".` + many("[0]", 30_000) + `" > f; jq -n -f f`, says: "nested too deep"},
	{name: "jq with many conditions", script: `echo "` + many("if 1 then 1 elif ", 30_000) + `" > f; jq -n -f f`, says: "nested too deep"},
	{name: "jq with a deep value", script: `jq -n 'reduce range(1000000) as $i (0; [.]) | tojson | length'`},
	{name: "jq that sets a deep path", script: `jq -n '[range(1000000) | 0] as $p | null | setpath($p; 1) | length'`},
	{name: "awk with a long sum", script: `echo "BEGIN { print ` + many("1+", 600_000) + `1 }" > f; awk -f f`, says: noMemory},
	{name: "awk with some operators in a row", script: `echo "BEGIN { print ` + many("1+", 40_000) + `1 }" > f; awk -f f`},
	{name: "awk with many subscripts", script: `echo "BEGIN { ` + many("a[", 600_000) + `" > f; awk -f f`, says: noMemory},
	{name: "awk with fields of signs", script: `echo 'BEGIN { $'"` + many("-", 5_000) + `1 }" > f; awk -f f`},
	{name: "awk with many getlines", script: `echo "BEGIN { ` + many("getline < ", 30_000) + `1 }" > f; awk -f f`, says: "nested too deeply"},
	{name: "bc with a long sum", script: `echo "` + many("1+", 600_000) + `1" | bc`, says: "nested too deeply"},
	{name: "bc with many negations", script: `echo "` + many("!", 600_000) + `1" | bc`},
	{name: "dc that calls itself", script: `echo '[lax1]salax' | dc`},
	{name: "dc with a stack without end", script: `yes 1 | dc`},
	{name: "sed with many blocks", script: `echo "` + many("{", 600_000) + `" > f; sed -f f /keep`},
	{name: "grep with many look-aheads", script: `echo "` + many("(?=", 600_000) + `" > f; grep -P -f f /keep`},
	{name: "rg with many braces", script: `rg -g "` + many("{", 300_000) + `" a`},
	{name: "yq with many lists", script: `echo "` + many("[", 600_000) + `" > f; yq . f`},
	{name: "yq with many dashes", script: `echo "` + many("- ", 400_000) + `" > f; yq . f`},
	{name: "file of many arrays", script: `echo "` + many("[", 600_000) + `" > f; file f`},
	{name: "diff with many conditions", script: `diff --changed-group-format="` + many("%(A=B?", 200_000) + `" /keep /dev/null`},
	{name: "curl with a file that includes itself", script: `echo '-K f' > f; echo 'config = f' >> f; curl -K f http://127.0.0.1/`},
	{name: "a shell that reads zeros", script: `bash < /dev/zero`},
	{name: "a pattern of many groups", script: `shopt -s extglob; x=` + many("@(", 200_000) + `; y=` + many(")", 100_000) + `; echo $x$y`},
	{name: "programs in deep directories", script: `for i in {1..1500}; do mkdir a; cd a; done; cd /proj; for c in tree "tree -J" du "ls -R" "find ." "cp -r a b" "chmod -R 755 a" "tar cf t a" "grep -r x a" "rm -rf a b"; do $c > /dev/null; done`},
	{name: "sort -m of yes", script: `sort -m <(yes) <(yes n) > /dev/null`},
	{name: "stat with a wide format", script: `stat -c %999999999n / > /dev/null; stat -c %.999999999Y / > /dev/null`},
	{name: "date with wide fields", script: `date +%999999999N > /dev/null; date +%_999999999d%^999999999B > /dev/null`},
	{name: "printf of a wide argument", script: `printf '%*s' 999999999 a > /dev/null; env printf '%*s' 999999999 a > /dev/null`},
	{name: "awk of a wide argument", script: `awk 'BEGIN { printf "%*d", 999999999, 1 }' > /dev/null`},
	{name: "tr of a range of many", script: `yes | tr -s '[y*2147483647]' > /dev/null`},
	{name: "sed with two spaces that grow", script: `yes | sed 'H;G;h' > /dev/null`},
	{name: "sed that appends lines", script: `yes | sed ':a;N;ba'`, says: "couldn't re-allocate memory"},
	{name: "base64 of a line without end", script: `yes | tr -d '\n' | base64 -d > /dev/null`},
	{name: "tar of a long name", script: `head -c 9000000 /dev/zero | tr '\0' a > big; tar cf - big | tar tf - > /dev/null`},
	{name: "zip of a big file", script: `yes | head -c 9000000 > big; zip -q - big > z; unzip -p z > /dev/null`},
	{name: "xargs with replacements", script: `yes {} | tr -d '\n' | head -c 100000 | xargs -I{} echo {}{}{}{}{}{}{}{} > /dev/null`},
	{name: "paste of many columns", script: `yes | head -c 3000000 | paste -s -d, > /dev/null`},
	{name: "column of wide cells", script: `yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaa | column -t > /dev/null`},
	{name: "column as JSON without end", script: `yes | column -J -N a > /dev/null`},
}
