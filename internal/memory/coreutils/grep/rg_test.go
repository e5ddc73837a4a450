package grep_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Rg_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, args := range []string{
		"hello .", "-n hello .", "-i hello .", "-S Hello .", "-S hello .", "-w hell .", "-x HELLO .", "-F 'main()' .", "-c hello .", "-l hello .", "--files-without-match hello .", "-o 'hel+' .", "-A1 foo a.txt", "-B1 foo a.txt", "-C1 foo .", "-n -C1 foo a.txt", "-g '*.rs' hello .", "-g '!*.rs' hello .", "-t py hello .", "-T py hello .", "--files .", "--files", "--files src", "--files --hidden .", "--files -u .", "--hidden hello .", "-u hello .", "-uu hello .", "-uuu hello .",
		"-r bye hello a.txt", "-r '$1x' '(hel)lo' a.txt", "-r '${1}x' '(hel)lo' a.txt", "-r '<$0>' 'l+' a.txt", "-or '<$0>' 'l+' a.txt", "-r '$n!' '(?P<n>w\\w+)' a.txt", "-r '$$1' foo a.txt", "-e foo -e last a.txt", "-v hello a.txt", "-q hello .", "nomatch .", "hello nosuch", "hello nosuch a.txt", "-N hello a.txt", "--heading hello .", "--heading -n hello .", "--heading -C1 foo .", "-H hello a.txt", "-I hello .", "-m1 hello a.txt", "-m1 hello .", "--column hello a.txt", "-b hello a.txt", "--vimgrep hello .", "-0 -l hello .", "-0c hello .", "-t nope hello .", "-a hello bin.dat", "hello bin.dat", "-l hello bin.dat", "-c hello bin.dat",
		"--max-depth 1 hello .", "--max-depth 2 -l hello .", "--max-depth 0 hello .", "--no-ignore hello .", "--no-ignore-vcs -l hello .", "--passthru foo a.txt", "-P 'a(?=r)' a.txt", "-L -l hello .", "-s hello nosuch", "hello . src", "hello ./", "hello src", "hello ./src", "hello src/", "-A x foo .", "--context-separator=XX -C0 hello a.txt", "-nA0 hello a.txt", "-A1 hello .", "--glob '*.txt' --files .", "-l hello src build", "-. hello .", "--iglob '*.TXT' -l hello .", "--type-add 'foo:*.rs' -tfoo hello .", "-lv zzz .", "--no-filename hello .", "-on 'o' a.txt", "-oc o a.txt", "--count-matches o .", "-ob o a.txt", "-g 'src/**' -l hello .", "-g '**/deep/*' -l hello .", "-g '!src' -l hello .", "-g '*.{rs,py}' -l hello .", "-g src/main.rs hello .", "-g '/src/*.rs' hello .",
		"-f a.txt src", "'^\\w+$' a.txt", "'\\d' .", "'h.*o$' a.txt", "'(?i)hello' a.txt", "'hello|foo' a.txt", "'^$' empty.txt", "hello -", "hello", "-c hello -", "-n hello a.txt -", "-H hello -", "'o{2}' .", "'[[:alpha:]]+ b' .", "'\\bfoo\\b' .", "-tpy -trust -l hello .", "-ivc hello .", "--no-messages hello nosuch", "-l hello logs", "hello node_modules", "hello x.log", "-ll hello x.log top.txt", "-qv hello a.txt", "--files nosuch", "-g '*.zzz' hello .", "-g '*.zzz' --files .", "'' a.txt", "-c '' a.txt", "-x '' a.txt", "-wo 'o' a.txt",
	} {
		rows = append(rows, programtest.Row{Line: "rg --no-config --sort path " + args, Stdin: "stdin hello\nno\n"})
	}
	programtest.RunReadOnly(t, programtest.RgTree, rows)
}

const rgTextTree = `printf 'hello world\nfoo bar\nHELLO\nlast hello' >a.txt
printf 'one\ntwo foo\nbar three\nfour\nfoo\nbar foo\nbar x\nlast foo' >m.txt
printf 'x\xffhello\n' >bytes.txt
printf 'bin\0hello\n' >z.bin
printf 'a\r\nhello\r\n' >crlf
printf 'hello\t"q" \\ \001\177\b\f \303\251\n' >esc.txt
mkdir sub
printf 'fn hello() {\n  hello();\n}\n' >sub/m.rs
: >empty`

func Test_Rg_Matches_Over_Lines_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, args := range []string{
		"-U 'foo\\nbar' m.txt", "-Un 'foo\\nbar' m.txt", "-Uc 'foo\\nbar' m.txt", "-U --count-matches 'foo\\nbar' m.txt", "-Uo 'foo\\nbar' m.txt", "-Uon 'foo\\nbar' m.txt", "-UnC1 'foo\\nbar' m.txt", "-UnA1 'two.*\\nbar' m.txt", "-UnB1 'four\\n' m.txt", "-Uv 'two foo\\nbar' m.txt", "-Uvn 'two foo\\nbar' m.txt", "-Un 'o.*o' m.txt", "-Un --multiline-dotall 'two.*three' m.txt", "-Un '(?s)two.*four' m.txt", "-Un --column 'foo\\nbar' m.txt", "--vimgrep -U 'foo\\nbar' m.txt", "-Ul 'foo\\nbar' .", "-Um1 'foo\\nbar' m.txt", "-U -b 'foo\\nbar' m.txt",
		"-n 'foo\\nbar' m.txt", "'foo\\n' m.txt", "'[^\\n]+r' m.txt", "-Un 'foo\\n' m.txt", "-Un 'x\\n?' m.txt", "-Un '^bar' m.txt", "-Un 'foo$' m.txt", "-Uw 'foo\\nbar' m.txt", "-Ux 'foo\\nbar' m.txt", "-Ux 'bar x\\nlast foo' m.txt", "-U 'foo\\s+bar' m.txt", "-UH 'foo\\s+bar' m.txt", "-Ui 'FOO\\nBAR' m.txt", "-Un '[^o]b' m.txt", "-Un '\\n\\n' m.txt", "-Un '' m.txt", "-Uc foo m.txt", "-Uc '\\w+\\n\\w' m.txt", "-Un 'foo\\r?\\nbar' crlf m.txt", "-UP 'foo\\nbar' m.txt", "-Un 'foo\\z' m.txt", "-Uno 'foo\\n' m.txt", "-Uq 'foo\\nbar' m.txt",
		"-U --passthru 'foo\\nbar' m.txt", "-U hello z.bin", "-U 'n.*\\n?hello' z.bin", "-U 'a\\r\\nh' .", "-U --heading -n 'foo\\nbar' .", "-U --no-multiline foo m.txt", "-U --multiline-dotall --no-multiline-dotall 'two.*three' m.txt", "-U nomatch .", "-U x empty", "-U hello nosuch", "-U 'foo\\nbar' sub", "-U -e 'foo\\nbar' -e one m.txt", "-Ulv foo m.txt a.txt", "-U --files-without-match 'foo\\nbar' m.txt a.txt", "--vimgrep l a.txt", "--vimgrep o .", "--vimgrep -i hello a.txt",
	} {
		rows = append(rows, programtest.Row{Line: "rg --no-config --sort path " + args, Stdin: "stdin hello\nno\n"})
	}
	programtest.RunReadOnly(t, rgTextTree, rows)
}

func Test_Rg_Writes_The_Messages_Of_The_Real_One(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	programtest.Prepare(t, work, rgTextTree)
	tree := programtest.ImportTree(t, work)
	time := regexp.MustCompile(`"(secs|nanos)":[0-9]+|"human":"[^"]*"`)
	for _, args := range []string{
		"hello a.txt", "-n hello sub", "-A1 foo a.txt", "-B1 -A1 foo m.txt", "-o hello a.txt", "-v hello a.txt", "nomatch .", "hello bytes.txt", "-m1 l+ a.txt", "hello nosuch", "hello nosuch a.txt", "-r X hello a.txt", "--vimgrep l a.txt", "-q hello .", "-i -N hello a.txt", "hello crlf", "-U 'foo.*\\n' a.txt", "-U 'foo\\nbar' m.txt", "-UC1 'foo\\nbar' m.txt", "--passthru foo a.txt", "hello -", "--heading -b hello a.txt", "hello esc.txt", "-w hello a.txt sub/m.rs", "'' a.txt", "-e foo -e bar a.txt", "hello empty", "-t rust hello .",
	} {
		t.Run(args, func(t *testing.T) {
			line := programtest.Row{Line: "rg --no-config --sort path --json " + args, Stdin: "stdin hello\nno\n"}
			words := programtest.SplitWords(t, line.Line)
			got, want := programtest.RunVirtual(t, tree.Fork(), work, words, line), programtest.RunReal(t, work, words, line)
			for _, text := range []*string{&got.Stdout, &want.Stdout} {
				*text = time.ReplaceAllString(*text, "TIME")
			}
			programtest.Compare(t, line, got, want)
		})
	}
}

func Test_Rg_Json_Goes_With_No_Counts(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"--count", "--count-matches", "--files", "--files-with-matches", "--files-without-match"} {
		got := programtest.RunVirtual(t, programtest.NewVirtualTree(t, nil), "/w", []string{"rg", "--json", option, "x"}, programtest.Row{})
		if want := "error: The argument '" + option + "' cannot be used with '--json'\n\nFor more information try --help\n"; got.Stderr != want || got.Status != 2 {
			t.Errorf("%s: %q, status %d", option, got.Stderr, got.Status)
		}
	}
}
