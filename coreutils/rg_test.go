package coreutils

import "testing"

const rgTree = `mkdir -p src/deep .hid node_modules/x build .git src/.cache
printf 'hello world\nfoo bar\nHELLO\nlast hello' > a.txt
printf 'fn main() {\n  hello();\n}\n' > src/main.rs
printf 'x hello\n' > src/deep/b.py
printf 'hello hid\n' > .hid/f
printf 'hello nm\n' > node_modules/x/i.js
printf 'hello b\n' > build/out.o
printf 'node_modules\n*.o\n!keep.o\n/top.txt\n# comment\n\nsrc/**/gen\nlogs/\n' > .gitignore
printf 'hello keep\n' > build/keep.o
printf 'hello top\n' > top.txt
printf 'hello subtop\n' > src/top.txt
printf 'bin\0hello\n' > bin.dat
printf 'hello ignored\n' > x.log
printf '*.log\n' > .ignore
printf '!x.log\n*.md\n' > src/.ignore
printf 'hello md\n' > src/r.md
printf 'hello log\n' > src/x.log
mkdir -p src/deep/gen logs
printf 'hello gen\n' > src/deep/gen/g.py
printf 'hello l\n' > logs/l.txt
ln -s ../a.txt src/link
ln -s src dirlink
: > empty.txt`

func Test_Rg_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []row
	for _, args := range []string{
		"hello .", "-n hello .", "-i hello .", "-S Hello .", "-S hello .", "-w hell .", "-x HELLO .", "-F 'main()' .", "-c hello .", "-l hello .", "--files-without-match hello .", "-o 'hel+' .", "-A1 foo a.txt", "-B1 foo a.txt", "-C1 foo .", "-n -C1 foo a.txt", "-g '*.rs' hello .", "-g '!*.rs' hello .", "-t py hello .", "-T py hello .", "--files .", "--files", "--files src", "--files --hidden .", "--files -u .", "--hidden hello .", "-u hello .", "-uu hello .", "-uuu hello .",
		"-r bye hello a.txt", "-r '$1x' '(hel)lo' a.txt", "-r '${1}x' '(hel)lo' a.txt", "-r '<$0>' 'l+' a.txt", "-or '<$0>' 'l+' a.txt", "-r '$n!' '(?P<n>w\\w+)' a.txt", "-r '$$1' foo a.txt", "-e foo -e last a.txt", "-v hello a.txt", "-q hello .", "nomatch .", "hello nosuch", "hello nosuch a.txt", "-N hello a.txt", "--heading hello .", "--heading -n hello .", "--heading -C1 foo .", "-H hello a.txt", "-I hello .", "-m1 hello a.txt", "-m1 hello .", "--column hello a.txt", "-b hello a.txt", "--vimgrep hello .", "-0 -l hello .", "-0c hello .", "-t nope hello .", "-a hello bin.dat", "hello bin.dat", "-l hello bin.dat", "-c hello bin.dat",
		"--max-depth 1 hello .", "--max-depth 2 -l hello .", "--max-depth 0 hello .", "--no-ignore hello .", "--no-ignore-vcs -l hello .", "--passthru foo a.txt", "-P 'a(?=r)' a.txt", "-L -l hello .", "-s hello nosuch", "hello . src", "hello ./", "hello src", "hello ./src", "hello src/", "-A x foo .", "--context-separator=XX -C0 hello a.txt", "-nA0 hello a.txt", "-A1 hello .", "--glob '*.txt' --files .", "-l hello src build", "-. hello .", "--iglob '*.TXT' -l hello .", "--type-add 'foo:*.rs' -tfoo hello .", "-lv zzz .", "--no-filename hello .", "-on 'o' a.txt", "-oc o a.txt", "--count-matches o .", "-ob o a.txt", "-g 'src/**' -l hello .", "-g '**/deep/*' -l hello .", "-g '!src' -l hello .", "-g '*.{rs,py}' -l hello .", "-g src/main.rs hello .", "-g '/src/*.rs' hello .",
		"-f a.txt src", "'^\\w+$' a.txt", "'\\d' .", "'h.*o$' a.txt", "'(?i)hello' a.txt", "'hello|foo' a.txt", "'^$' empty.txt", "hello -", "hello", "-c hello -", "-n hello a.txt -", "-H hello -", "'o{2}' .", "'[[:alpha:]]+ b' .", "'\\bfoo\\b' .", "-tpy -trust -l hello .", "-ivc hello .", "--no-messages hello nosuch", "-l hello logs", "hello node_modules", "hello x.log", "-ll hello x.log top.txt", "-qv hello a.txt", "--files nosuch", "-g '*.zzz' hello .", "-g '*.zzz' --files .", "'' a.txt", "-c '' a.txt", "-x '' a.txt", "-wo 'o' a.txt",
	} {
		rows = append(rows, row{line: "rg --no-config --sort path " + args, stdin: "stdin hello\nno\n"})
	}
	runReadOnly(t, rgTree, rows)
}
