package virtual

import "github.com/seed434b0696/agent-sandbox/memory/shell"

const (
	// commas writes a line of three million commas to the file big.
	commas = `head -c 3000000 /dev/zero | tr '\0' , > big; `
	// words writes a line of three million words to the file big.
	words = `yes a | head -c 6000000 | tr '\n' ' ' > big; `
	// letters writes four million lines of a letter to the file big.
	letters = `yes a | head -c 8000000 > big; `
	// empty writes eight million empty lines to the file big.
	empty = `yes '' | head -c 8000000 > big; `
	// names writes four million names that end with NUL to the file big.
	names = `yes a | tr '\n' '\0' | head -c 9000000 > big; `
	// endless writes letters without an end.
	endless = `tr '\0' a < /dev/zero`
)

// hundred is a hundred times the value of x, which counts once.
var hundred = again(`"$x" `, 100)

// buffered are inputs and options of which programs hold many small parts, or one large one.
var buffered = []attack{
	{name: "date of a line without end", script: endless + ` | date -f -`, limit: shell.ErrMemory, held: true},
	{name: "date of zeros", script: `date -f /dev/zero`, limit: shell.ErrMemory, held: true},
	{name: "checksums of a line without end", script: endless + ` | md5sum -c`, limit: shell.ErrMemory, held: true},
	{name: "jq with a raw line without end", script: endless + ` | jq -R length`, limit: shell.ErrMemory, held: true},
	{name: "jq that reads a text as JSON", script: `jq -n '("[" + "1,"*3000000 + "1]") | fromjson | length'`, limit: shell.ErrMemory, held: true},
	{name: "xargs of an item without a delimiter", script: `xargs -d x < /dev/zero`, says: "argument line too long", held: true},
	{name: "xargs of an item without NUL", script: endless + ` | xargs -0 echo`, says: "argument line too long", held: true},
	{name: "xargs with many marks", script: `(yes a | tr -d '\n' | head -c 90000; echo) | xargs -I{} echo $(yes '{}' | tr -d '\n' | head -c 30000) > /dev/null`, says: "too long", held: true},
	{name: "column of a line of commas", script: commas + `column -t -s, big > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "column of a line of words", script: words + `column -t big > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "column with many names", script: `column -t -N "$(yes , | tr -d '\n' | head -c 2000000)" < /keep > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "join of lines of commas", script: commas + `join -t, big big > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "join of lines of words", script: words + `join big big > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "grep with empty patterns", script: empty + `grep -f big /keep`, limit: shell.ErrMemory, held: true},
	{name: "grep with empty texts", script: empty + `grep -F -f big /keep`, limit: shell.ErrMemory, held: true},
	{name: "grep with patterns of a letter", script: letters + `grep -f big /keep`, limit: shell.ErrMemory, held: true},
	{name: "grep with patterns in an argument", script: letters + `x=$(head -c 3000000 big); grep -e "$x" /keep`, limit: shell.ErrMemory, held: true},
	{name: "rg with patterns of a letter", script: letters + `rg -f big /keep`, limit: shell.ErrMemory, held: true},
	{name: "rg with a message of many matches", script: `head -c 3000000 /dev/zero | tr '\0' a | rg --json a > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "rg with many rules", script: letters + `mv big .ignore; echo x > f; rg x`, limit: shell.ErrMemory, says: "Cannot allocate memory", held: true},
	{name: "fd with many rules", script: letters + `mv big .fdignore; fd x`, limit: shell.ErrMemory, says: "Cannot allocate memory", held: true},
	{name: "sort with empty names", script: `head -c 9000000 /dev/zero > big; sort --files0-from=big`, limit: shell.ErrMemory, held: true},
	{name: "sort with many names", script: names + `sort --files0-from=big`, limit: shell.ErrMemory, held: true},
	{name: "wc with many names", script: names + `wc --files0-from=big`, limit: shell.ErrMemory, held: true},
	{name: "du with many names", script: names + `du --files0-from=big`, limit: shell.ErrMemory, held: true},
	{name: "du with many patterns", script: letters + `du -X big`, limit: shell.ErrMemory, held: true},
	{name: "find with many names", script: names + `find -files0-from big`, limit: shell.ErrMemory, held: true},
	{name: "find with many directives", script: `find -maxdepth 0 -printf "$(yes %p | tr -d '\n' | head -c 3000000)" > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "file with many names", script: letters + `file -f big`, limit: shell.ErrMemory, held: true},
	{name: "diff with many patterns", script: letters + `mkdir a b; diff -r -X big a b`, limit: shell.ErrMemory, held: true},
	{name: "tree with many patterns", script: `tree -I "$(yes '|' | tr -d '\n' | head -c 3000000)"`, limit: shell.ErrMemory, held: true},
	{name: "ls with many operands", script: `touch a; a=($(yes a | head -n 300000)); ls "${a[@]}" > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "which with many operands", script: `which $(yes a | head -n 300000)`, held: true},
	{name: "paste with many delimiters", script: `paste -d "$(yes a | tr -d '\n' | head -c 3000000)" /keep /keep`, limit: shell.ErrMemory, held: true},
	{name: "tr with many ranges", script: `tr "$(yes '\000-\377' | tr -d '\n' | head -c 3000000)" a < /keep`, limit: shell.ErrMemory, held: true},
	{name: "tr with many classes", script: `tr -d "$(yes '[:alnum:]' | tr -d '\n' | head -c 3000000)" < /keep`, held: true},
	{name: "sed with a long transliteration", script: `(printf y/; yes a | tr -d '\n' | head -c 3000000; printf /; yes b | tr -d '\n' | head -c 3000000; echo /) > f; sed -f f /keep`, limit: shell.ErrMemory, held: true},
	{name: "sed that takes the match many times", script: `yes a | tr -d '\n' | head -c 4000000 | sed 's/.*/&&&&&&&&&&&&&&&&&&&&/' > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "sed that takes the match in another case", script: `yes a | tr -d '\n' | head -c 4000000 | sed 's/.*/\U&\L&\U&\L&&&&&&&&/' > /dev/null`, held: true},
	{name: "sed that appends texts", script: `yes | sed -e ':a' -e 'a some text' -e 'ba' > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "sed that appends files", script: `echo x | sed -e ':a' -e 'r /keep' -e 'ba' > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "sed that appends lines of a file", script: `yes | head -c 9000000 > big; echo x | sed -e ':a' -e 'R big' -e 'ba' > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "sed with many outputs", script: `seq -f 'w %.0f' 100000 > f; sed -f f /keep > /dev/null; rm -f [0-9]*`, limit: shell.ErrMemory, held: true},
	{name: "awk that takes the match many times", script: `yes a | tr -d '\n' | head -c 3000000 | awk '{ gsub(/.*/, "&&&&&&&&&&&&&&&&&&&&&&&&&&"); print length($0) }'`, limit: shell.ErrMemory, held: true},
	{name: "awk with many outputs", script: `awk 'BEGIN { while (1) print 1 > ("f" i++) }'; rm -f f*`, held: true},
	{name: "history of many lines", script: letters + `set -o history; history -r big`, limit: shell.ErrMemory, held: true},
	{name: "curl that sends a range of files", script: `printf -v x '%60000s'; curl -T "${x// /a}[1-100000]" http://127.0.0.1/`, held: true},
	{name: "curl that sends many sets of files", script: `curl -T "$(yes '{a}' | tr -d '\n' | head -c 3000000)[1-100000]" http://127.0.0.1/`, limit: shell.ErrMemory, held: true},
	{name: "curl with options without end", script: `yes 'header = x: y' | head -c 15000000 > big; curl -K big http://127.0.0.1/`, limit: shell.ErrMemory, held: true},
	{name: "curl with header fields without end", script: `yes 'a: b' | curl -H @- http://127.0.0.1/`, limit: shell.ErrMemory, held: true},
	{name: "curl with data without end", script: `curl -d @/dev/zero http://127.0.0.1/`, limit: shell.ErrMemory, held: true},
	{name: "curl with a long text about the transfer", script: `curl -s -w "$(yes '%{json}' | tr -d '\n' | head -c 3000000)" http://127.0.0.1/ > /dev/null`, held: true},
	{name: "tar with replacements that double", script: `touch a; tar cf x --transform "$(yes 's/.*/&&/;' | tr -d '\n' | head -c 603)" a`, held: true},
	{name: "tar with many replacements", script: `touch a; tar cf x --transform "$(yes 's/a/b/;' | tr -d '\n' | head -c 3000000)" a`, limit: shell.ErrMemory, says: "Cannot allocate memory", held: true},
	{name: "tar with replacements of many states", script: `touch a; tar cf x --transform "$(yes 's/[[:alpha:]]{200}/b/x;' | tr -d '\n' | head -c 1000000)" a`, held: true},
	{name: "tar with a replacement of many parts", script: `touch a; tar cf x --transform "s/a/$(yes '&b' | tr -d '\n' | head -c 3000000)/" a`, limit: shell.ErrMemory, held: true},
	{name: "printf of the same long argument", script: `printf -v x '%1000000s'; printf -v y "$(yes %s | tr -d '\n' | head -c 200)" ` + hundred, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "printf of wide fields at the same time", script: `for i in {1..200}; do printf '%04000000d' 1 > /dev/null & done; wait`, limit: shell.ErrMemory, held: true},
	{name: "printf of a long time", script: `printf "%($(yes %c | tr -d '\n' | head -c 2000000))T"`, limit: shell.ErrMemory, held: true},
	{name: "date with a long format", script: `date "+$(yes %c | tr -d '\n' | head -c 2000000)" > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "date with many wide fields", script: `date "+$(yes %4000Y | tr -d '\n' | head -c 2000000)" > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "select of the same long word", script: `printf -v x '%1000000s'; select i in ` + hundred + `; do :; done < /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "awk with a replacement of many parts", script: `awk 'BEGIN { x = "&b"; for (i = 0; i < 21; i++) x = x x; y = "a"; gsub(/a/, x, y); print length(y) }'`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "awk with a long sprintf", script: `awk 'BEGIN { x = "a"; for (i = 0; i < 21; i++) x = x x; y = sprintf("` + again("%s", 40) + `"` + again(",x", 40) + `); print length(y) }'`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "awk with a long printf", script: `awk 'BEGIN { x = "a"; for (i = 0; i < 22; i++) x = x x; printf("` + again("%s", 40) + `"` + again(",x", 40) + `) }' > /dev/null`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "awk with large regular expressions", script: `awk 'BEGIN { while (1) "a" ~ ("([[:alpha:]]{1,100}){1,5}" i++) }'`, held: true},
	{name: "awk with a time of many parts", script: `awk 'BEGIN { x = "%c"; for (i = 0; i < 20; i++) x = x x; print length(strftime(x)) }'`, held: true},
	{name: "a function with many words that calls itself", script: `f() { f ` + again("a ", 1000) + `; }; f`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "a function with many values that calls itself", script: `a=b; f() { f ` + again("$a ", 1000) + `; }; f`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "a function with many redirections that calls itself", script: `f() { f ` + again("< /keep ", 1000) + `; }; f`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "groups with redirections in a function that calls itself", script: `f() { { f; } ` + again("< /keep ", 200) + `; }; f`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "parameters in parameters with values", script: `printf -v x '%1000000s'; echo ` + again("${u:-$x", 20) + again("}", 20), held: true},
	{name: "a prompt of parts of parameters in itself", script: `a=abc; x='` + inside("${a:1:", "${x@P}", "}", 60) + `'; echo ${x@P}`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "patterns that are compiled once", script: `printf -v x '%240s'; x=${x// /?}; for ((i=0;;i++)); do [[ a == $x$i ]]; done`, held: true},
	{name: "extended patterns that are compiled once", script: `shopt -s extglob; printf -v x '%60s'; x=${x// /'@(a)'}; for ((i=0;;i++)); do [[ a == ${x:0:240}$i ]]; done`, held: true},
	{name: "regular expressions that are compiled once", script: `for ((i=0;;i++)); do [[ a =~ ([[:alpha:]]{1,100}){1,20}$i ]]; done`, held: true},
	{name: "many home directories", script: `eval "x=$(yes '~:' | tr -d '\n' | head -c 2000000)"`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "many home directories of users", script: `eval "f() { x=$(yes '~a:' | tr -d '\n' | head -c 60000); }"; while :; do f; done`, held: true},
	{name: "braces around a long text", script: `eval "echo {$(yes a | tr -d '\n' | head -c 2000000),b} > /dev/null"`, limit: shell.ErrMemory, says: noMemory, held: true},
	{name: "arguments of all callers", script: `shopt -s extdebug; f() { : "${BASH_ARGV[0]}${BASH_ARGV[1]}${BASH_ARGV[2]}"; f ` + again("a ", 100) + `; }; f`, held: true},
	{name: "arguments of all callers in one word", script: `shopt -s extdebug; eval "f() { ((i++ < 900)) && f {1..100}; : $(yes '$BASH_ARGV' | tr -d '\n' | head -c 30000); f; }"; f`, held: true},
	{name: "one xz", script: `yes | xz -9 > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "xz at the same time", script: `for i in {1..20}; do xz -9 < /dev/zero > /dev/null & done; wait`, held: true},
	{name: "xz of the older format", script: `yes | xz --format=lzma -9 > /dev/null`, limit: shell.ErrMemory, held: true},
	{name: "bzip2 at the same time", script: `for i in {1..100}; do seq 10000000 | bzip2 -9 > /dev/null & done; wait`, held: true},
	{name: "bunzip2 at the same time", script: `seq 100000 | bzip2 > z; for i in {1..100}; do (cat z; sleep 1) | bzip2 -dc > /dev/null & done; wait`, held: true},
	{name: "gzip at the same time", script: `for i in {1..200}; do gzip -9 < /dev/zero > /dev/null & done; wait`, held: true},
	{name: "zstd at the same time", script: `for i in {1..100}; do zstd -c < /dev/zero > /dev/null & done; wait`, held: true},
	{name: "one zstd of the best level", script: `seq 100000000 | zstd -19 -c > /dev/null`, limit: shell.ErrMemory, held: true},
}
