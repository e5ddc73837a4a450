package charset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/charset"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const iconvTree = `printf 'h\303\251llo \342\202\254\n' >u8
printf 'h\351llo\n' >l1
printf 'ab\377cd\n' >bad
printf 'ab\303' >trunc
printf '\377\376a\0b\0' >u16
printf 'a\0b' >odd
printf '\357\273\277abc' >mark
printf 'a\nb\nc' >noend
printf '\355\240\200' >half
printf '\360\237\230\200x' >emo
: >empty
for i in {0..255}; do printf -v x %x "$i"; printf "\\x$x"; done >all
seq 20000 | sed 's/5/\xc3\xa9/g; s/7/\xe2\x82\xac/' >long
printf '\342\200\234q\342\200\235 \342\200\223 \342\200\246 \302\251\302\256\342\204\242 \303\206\303\237 \302\253x\302\273 \302\275 \357\254\201 \342\206\222 \342\211\244 \357\274\241 \342\205\247 \342\200\242 \302\240|\n' >signs
printf 'r\303\251sum\303\251 na\303\257ve \303\205ngstr\303\266m \305\201\303\263d\305\272 \303\230 \302\243\302\245 \304\221 \303\276 \302\262\n' >accents
mkdir d`

func Test_Iconv_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, args := range []string{
		"-f utf-8 -t latin1 u8", "-f latin1 -t utf-8 l1", "-f utf8 -t utf16 u8", "-f utf-8 -t utf-16le u8", "-f utf-8 -t UTF-16BE u8", "-f utf-8 -t UTF-32 u8", "-f utf-8 -t UCS-2 u8", "-f utf-8 -t UCS-4 u8", "-f utf-8 -t UCS-4LE u8", "-f utf-8 -t UCS2 u8", "-f utf-8 -t UNICODE u8", "-f utf-8 -t ascii u8", "-c -f utf-8 -t ascii u8",
		"-f utf-8 -t ascii//TRANSLIT u8", "-f utf-8 -t ascii//IGNORE u8", "-f utf-8 -t ascii//TRANSLIT//IGNORE u8", "-f utf-8 -t ascii//IGNORE//TRANSLIT u8", "-f utf-8 -t utf-8 bad", "-c -f utf-8 -t utf-8 bad", "-f utf-8//IGNORE -t utf-8 bad", "-f utf-8 -t utf-8//IGNORE bad", "-f utf-8 -t utf-16 trunc", "-c -f utf-8 -t utf-16 trunc", "-f utf-16 -t utf-8 u16", "-f utf-16le -t utf-8 u16", "-f utf-16 -t utf-8 odd", "-f utf-16be -t utf-8 odd",
		"-f utf-8 -t ascii mark", "-f utf-8 -t utf-16 empty", "-t utf-8 u8", "-f utf-8 u8", "-f utf-8 -t utf-8 nosuch", "-f utf-8 -t utf-8 nosuch u8", "-f utf-8 -t utf-16 half", "-f utf-8 -t utf-16 emo", "-f utf-8 -t ucs-2 emo", "-c -f utf-8 -t ucs-2 emo", "-x", "--foo", "-f", "-f utf-8 -t utf-8 u8 mark", "-f utf-8 -t utf-16 u8 mark", "-f utf-8 -t utf-32 u8 u8", "-f utf-8 -t cp1252 u8", "-f utf-8 -t ISO-8859-15 u8", "-s -f utf-8 -t ascii u8", "-f utf-8 -t latin1 -o out u8", "-f utf-8 -t cp1252 -o out u8",
		"--verbose -f utf-8 -t cp1252 u8 empty", "-f utf-8 -t latin1 -", "-f utf-8 -t utf-16be", "-f cp1252 -t utf-8 all", "-c -f ascii -t utf-8 all", "-f ascii -t utf-8 all", "-f '' -t utf-8 l1", "-f utf-8 -t '' u8", "-f utf-8 -t //TRANSLIT u8", "-f UTF-8 -t ASCII//translit u8", "-f UTF-8 -t ASCII//FOO u8", "-f UTF-8 -t ASCII/ u8", "-f utf-8 -t utf-8 bad u8", "-f utf-8 -t utf-8 trunc u8", "-f utf-8 -t ascii//IGNORE u8 u8", "-f utf-8 -t utf-8 -o out empty", "-f utf-8 -t utf-8 -o out noend", "-f utf-8 -t utf-8 -o out noend u8",
		"-f utf-8 -t ascii -o out bad", "-f utf-8 -t utf-8 -o nodir/x noend", "-f utf-8 -t utf-8 -o nodir/x empty", "-f utf-8 -t utf-16 -o - u8", "-f UTF-8 -t LATIN9 u8", "-f utf-8 -t latin-9 u8", "-f 'utf 8' -t latin1 noend", "-f utf-8 -t latin1//TRANSLIT//IGNORE bad", "-f utf-8 -t latin1//IGNORE,TRANSLIT bad", "-f utf-8//TRANSLIT -t ascii u8", "-c -f utf-8 -t ascii//TRANSLIT u8", "-f ucs-2be -t utf-8 odd", "-f ucs-2 -t utf-8 u16", "-f ucs-4 -t utf-8 odd", "-f utf-32 -t utf-8 u16",
		"-f utf-8 -t utf-16 long", "-f utf-8 -t cp1252 long", "-f utf-8 -t ascii//TRANSLIT long", "-f utf-8 -t ascii//TRANSLIT signs", "-f utf-8 -t ascii//TRANSLIT accents", "-f utf-8 -t latin1//TRANSLIT signs", "-f utf-8 -t ascii//TRANSLIT emo", "-f utf-8 -t utf-8 -- u8", "-t utf-8 -f cp437 all", "--from-code=latin2 --to-code=utf-8 all", "-f utf-8 -t koi8-r -c long",
	} {
		rows = append(rows, programtest.Row{Line: "iconv " + args, Stdin: "st\u00fcdin\n"})
	}
	for _, args := range []string{"-t utf-16 u8", "-f latin1 l1", "-f utf-8 -t ascii//TRANSLIT accents", "-f utf-8 -t ascii//TRANSLIT signs", "-f utf-8 -t latin1//TRANSLIT accents", "-t latin2//TRANSLIT accents"} {
		rows = append(rows, programtest.Row{Line: "iconv " + args, Env: []string{"LC_ALL=C.UTF-8"}})
	}
	for _, s := range charset.CharsetSamples() {
		for _, name := range s.Names {
			rows = append(rows, programtest.Row{Line: "iconv -t utf-8 -f " + name, Stdin: s.Text})
		}
		if strings.HasPrefix(s.Names[0], "U") {
			continue
		}
		// Each byte there and back.
		rows = append(rows, programtest.Row{Line: "iconv -c -t utf-8 all -f " + s.Names[0]}, programtest.Row{Line: "iconv -c -f utf-8 accents signs u8 -t " + s.Names[0]})
	}
	writes := []programtest.Row{{Setup: "echo a >a", Line: "iconv -f utf-8 -t utf-16 -o a a"}}
	rows = slices.DeleteFunc(rows, func(r programtest.Row) bool {
		if !strings.Contains(r.Line, " -o ") {
			return false
		}
		r.Setup = iconvTree
		writes = append(writes, r)
		return true
	})
	programtest.RunReadOnly(t, iconvTree, rows)
	programtest.RunRows(t, writes)
}

func Test_Iconv_Refuses_Unknown_Encodings(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-f nope -t utf-8": "iconv: conversion from 'nope' is not supported\n", "-f utf-8 -t gbk//TRANSLIT": "iconv: conversion to 'gbk' is not supported\n",
	} {
		got := programtest.RunVirtual(t, programtest.NewVirtualTree(t, nil), "/w", programtest.SplitWords(t, "iconv "+args), programtest.Row{})
		if !strings.HasPrefix(got.Stderr, want) || got.Status != 1 {
			t.Errorf("iconv %s: %q, status %d", args, got.Stderr, got.Status)
		}
	}
}
