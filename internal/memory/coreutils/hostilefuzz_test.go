package coreutils_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// fuzzMost bounds arguments and inputs of the targets below.
const fuzzMost = 1 << 12

// fuzzCommand runs an implausible command with little fuel and memory: it must end soon after its fuel.
func fuzzCommand(t *testing.T, args []string, input string, content map[string]string) {
	t.Helper()
	size := len(input)
	for _, a := range args {
		if strings.Contains(a, "\x00") {
			t.Skip("no argument")
		}
		size += len(a)
	}
	if size > fuzzMost {
		t.Skip("too long")
	}
	tree := programtest.NewVirtualTree(t, content)
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
	defer cancel()
	p := shell.NewProc(ctx, shell.ProcOptions{
		FS: tree, Args: args, Env: []string{"TZ=Europe/Berlin", "LC_ALL=C.UTF-8"}, Dir: "/w", Stdin: strings.NewReader(input), Stdout: io.Discard, Stderr: io.Discard,
		Commands: coreutils.Commands(), Limits: shell.Limits{Fuel: 100_000, Bytes: 32 << 20}, Now: func() time.Time { return time.Unix(1700000000, 5) },
	})
	status := -1
	for _, c := range coreutils.Commands() {
		if c.Name == args[0] {
			status = c.Run(p)
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("%q goes on without end", args)
	}
	if status < 0 {
		t.Fatalf("%q: status %d", args, status)
	}
}

// chosen returns the options whose bits are set.
func chosen(mode uint16, options ...string) (args []string) {
	for i, option := range options {
		if mode&(1<<i) != 0 {
			args = append(args, strings.Fields(option)...)
		}
	}
	return args
}

func Fuzz_Bc_Program(f *testing.F) {
	for _, s := range []string{
		"define f(x){auto y[];if(x<=1)return(1);return(x*f(x-1))}\nf(20)", "scale=30;s(1)+c(2)*a(3)/l(4)-e(5)", "ibase=16;obase=3;FF.8^3", "while(i<9){i+=1;if(i==5)continue;print i,\"\\n\"}", "2^2^9%7;sqrt(2);length(1.5);read()",
		"a[1]=2;a[a[1]]++;--a[2];last;.", "for(;;)x*=10", "/* */ # x\n\"str\"\n(", "obase=99999;2^99;obase=1", "define void p(*a[],b){a[0]=b}\np(q[],3);q[0]", "scale=99999;1/3",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, program string, library bool) {
		args := []string{"bc"}
		if library {
			args = append(args, "-l")
		}
		fuzzCommand(t, args, program, nil)
	})
}

func Fuzz_Yq_Document(f *testing.F) {
	for _, s := range [][2]string{
		{".a.b[0] = 1", "a: &x {b: [1, 2]}\nc: *x\n"},
		{".", "- ! x\n- |\n  t\n- >-\n  u\n--- # d\n? [k]\n: v\n"},
		{"del(.a) | to_entries", "a: 1\n<<: {z: 0x1F}\n"},
		{"..", "&a [*a, *a]"},
		{".x += \"y\"", "%YAML 1.2\n---\nx: !!binary aGk=\n...\n"},
		{"[.[] | tostring]", "[1e3, .inf, ~, 2001-01-01, 'it''s', \"\\u00e9\"]"},
		{". as $d | $d", "a: [\n"},
		{".", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n"},
	} {
		f.Add(s[0], s[1], uint16(0))
		f.Add(s[0], s[1], uint16(3))
	}
	f.Fuzz(func(t *testing.T, program, input string, mode uint16) {
		args := append([]string{"yq"}, chosen(mode, "-r", "-P", "-o json", "-n", "-I 4", "-i", "-p json", "-e")...)
		fuzzCommand(t, append(args, program, "in"), "", map[string]string{"in": input})
	})
}

func Fuzz_Find_Expression(f *testing.F) {
	for _, s := range []string{
		". -name *.c -o ( -type d -prune ) -print", ". -printf %p\\t%s\\n%Tc%m%M%y%l%f%h%P%Z", ". -regex .*\\(a\\|b\\)+ -size +1k -newermt 2020-01-01", ". ! -perm /u+x,g-w -mtime -1 -delete", ". -maxdepth 2 -empty -exec echo {} + -quit", "-O3 -L . -samefile a -links 1 -fprintf out %d",
		". -newerXY a", ". -size 5c -regextype posix-extended -iregex (a|b)*c{2}", ". -type f,d,l -inum 3 -o -not -path ./d* , -ls", ". ( ( (", ". -printf %", ". -printf \\0777\\c%10.3p%-5f%Ak%CY%B@", ". -used 1 -cnewer a -amin +3 -user 0 -group x", "-files0-from in",
	} {
		f.Add(s, "a\x00d")
	}
	f.Fuzz(func(t *testing.T, expression, input string) {
		args := append([]string{"find"}, strings.Fields(expression)...)
		fuzzCommand(t, args, input, map[string]string{"a": "text", "b.c": "", "in": input})
	})
}

func Fuzz_Date_String(f *testing.F) {
	for _, s := range []string{
		"2024-02-30 25:61", "next friday 3 weeks ago", "@1700000000.123456789", "TZ=\"Asia/Tokyo\" 09:00 + 2 days", "1 Jan 2000 12am EST DST", "20240131T235959Z -1 month", "last day", "12:00:60,5 +05:30", "now yesterday tomorrow", "99999999999 years", "1/2/3", "Sat, 01 Jan 2000 00:00:00 +0000",
		"-3 fortnight ago", "TZ=\"XXX-99:99:99,M13.6.7/999\" now", "@-9223372036854775808", "0000-00-00", "(comment) 1 (nested (x)) 2",
	} {
		f.Add(s, "%Y-%m-%dT%H:%M:%S.%N%:::z %^a %-j %_5U %E* %3N")
	}
	f.Fuzz(func(t *testing.T, text, format string) {
		fuzzCommand(t, []string{"date", "-d", text, "+" + format}, "", nil)
		fuzzCommand(t, []string{"date", "-f", "-", "-R"}, text, nil)
		fuzzCommand(t, []string{"touch", "-d", text, "x"}, "", nil)
		fuzzCommand(t, []string{"date", "-s", text}, "", nil)
	})
}

func Fuzz_Unzip_Archive(f *testing.F) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range []string{"a/b", "../up", "/abs", "a/", "link\xff", strings.Repeat("n", 300)} {
			h := &zip.FileHeader{Name: name, Method: method, Comment: "c", Extra: []byte("UT\x05\x00\x03\x00\x00\x00\x00ux\x0b\x00\x01\x04\x00\x00\x00\x00\x04\x00\x00\x00\x00")}
			h.SetMode(0o120777)
			if to, err := w.CreateHeader(h); err == nil {
				_, _ = to.Write([]byte("text text text text"))
			}
		}
		_ = w.SetComment("comment")
		_ = w.Close()
		f.Add(b.Bytes(), uint16(0))
		f.Add(append([]byte("#!/bin/sh\nstub"), b.Bytes()...), uint16(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, mode uint16) {
		tree := programtest.HostileTree(t, data, vfs.Limits{})
		for _, line := range []string{"unzip", "unzip -l", "unzip -v", "unzip -t", "unzip -p", "zipinfo -v", "zipinfo -1", "zip -d", "zip -T", "zip -F"} {
			tree := tree.Fork()
			words := append(strings.Fields(line), chosen(mode, "-o", "-j", "-q", "-a", "-C", "-L", "-X", "-n", "-aa")...)
			words = append(words, "/a")
			if mode&(1<<9) != 0 || strings.HasPrefix(line, "zip -") {
				words = append(words, "a*")
			}
			programtest.RunHostile(t, tree, strings.Join(words, " "))
			programtest.CheckOutside(t, tree)
		}
	})
}

// Fuzz_Tar_Header reads an archive whose headers have correct checksums, so that tar reads the fields in them.
func Fuzz_Tar_Header(f *testing.F) {
	header := func(kind byte, name, size, link string) []byte {
		h := make([]byte, 512)
		copy(h, name)
		copy(h[100:], "0000644\x000000000\x000000000\x00"+size+"\x0000000000000\x00")
		h[156] = kind
		copy(h[157:], link)
		copy(h[257:], "ustar\x0000root")
		return h
	}
	for _, kind := range []byte("0123457xgLKSDMVNA") {
		body := make([]byte, 512)
		copy(body, "30 path=../../x\n11 size=99999\n22 GNU.sparse.map=0,1,5\n")
		f.Add(append(append(header(kind, "d/f", "00000001000", "../l"), body...), header('0', "e", "\x80\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff", "")...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for at := 0; at+512 <= len(data); at += 512 {
			h := data[at : at+512]
			sum := 8 * 32
			for i, c := range h {
				if i < 148 || i >= 156 {
					sum += int(c)
				}
			}
			copy(h[148:156], fmt.Sprintf("%06o\x00 ", sum))
		}
		tree := programtest.HostileTree(t, data, vfs.Limits{})
		for _, line := range []string{"tar xf /a", "tar xPif /a --keep-old-files", "tar tvvf /a", "tar xSpf /a --strip-components=1", "tar df /a", "tar --delete -f /a e", "tar xOf /a", "tar -tRf /a --full-time"} {
			tree := tree.Fork()
			programtest.RunHostile(t, tree, line)
			if !strings.Contains(line, "P") {
				programtest.CheckOutside(t, tree)
			}
		}
	})
}

func Fuzz_Xxd_Dump(f *testing.F) {
	for _, s := range []string{"00000000: 6865 6c6c 6f0a  hello.\n", "68656c6c6f", "00000000: 01101000 01100101\n", "fffffffffffffff0: 00\n", "7fffffff: 41\n00000000: 42\n", "0: zz\n-5: 41", "unsigned char x[] = { 0x68, 0x65 };"} {
		f.Add(s, uint16(1))
		f.Add(s, uint16(3))
	}
	f.Fuzz(func(t *testing.T, input string, mode uint16) {
		fuzzCommand(t, append([]string{"xxd"}, chosen(mode, "-r", "-p", "-b", "-i", "-c 3", "-g 5", "-e", "-s -2", "-l 9", "-u", "-seek 3", "-o 7", "-a", "-E", "-d")...), input, nil)
	})
}

func Fuzz_Numfmt_Number(f *testing.F) {
	for _, s := range []string{"1K 2.5Mi -3.00G", "99999999999999999999999Y", "1e5 0x10 .5 5.", "  7  8\t9", "+1 -0 --1", "1,000.5Ki", "∞ 1"} {
		f.Add(s, "%'10.3f", "2,4-5", uint16(1))
		f.Add(s, "%-05f%%x", "-", uint16(0x22))
	}
	f.Fuzz(func(t *testing.T, input, format, field string, mode uint16) {
		args := append([]string{"numfmt"}, chosen(mode, "--from=auto", "--to=iec", "--from=si", "--to=iec-i", "--padding=-9", "--header", "--invalid=warn", "--round=nearest", "--suffix=B", "--from-unit=512", "--to-unit=1K", "--grouping", "-z", "-d,", "--debug")...)
		fuzzCommand(t, append(args, "--field="+field), input, nil)
		fuzzCommand(t, append(args, "--format="+format), input, nil)
	})
}

// Fuzz_Command_Lines gives any program any words and any input.
func Fuzz_Command_Lines(f *testing.F) {
	names := []string{
		"od", "hexdump", "tr", "cut", "sort", "csplit", "seq", "join", "column", "xargs", "env", "expr", "split", "head", "tail", "nl", "paste", "printf", "stat", "ls", "du", "dd", "diff", "cmp", "fold", "expand", "uniq", "comm", "shuf", "tsort", "base64", "basenc",
		"cksum", "md5sum", "chmod", "test", "grep", "rg", "fd", "tree", "file", "strings", "envsubst", "look", "truncate", "mktemp", "install", "cp", "mv", "ln", "cal", "wc", "tac", "rev", "realpath", "df", "getopt", "patch", "zip", "tar", "gzip", "xz", "awk", "sed", "jq", "yq", "find", "tput", "less", "kill",
	}
	for i, s := range []string{"-A x -t x1z -j 2 in", "-e '8/1 \"%02x \" \"\\n\"' in", "-dc [:alpha:]a-z\\012", "-f 1,3- -d: --output-delimiter=x in", "-k 2.3nr,4b -t: -u in", "in /x/+1 {3} %y%-2", "-w -f %.3g 1 .5 9"} {
		f.Add(byte(i), strings.ReplaceAll(s, " ", "\n"), "a:b:c\nx y z\n3\n")
	}
	for i := range names {
		f.Add(byte(i), "--help", "")
		f.Add(byte(i), "in\nin", "line\nline 2\n\xff\x00")
	}
	f.Fuzz(func(t *testing.T, which byte, words, input string) {
		name := names[int(which)%len(names)]
		known := false
		for _, c := range coreutils.Commands() {
			known = known || c.Name == name
		}
		if !known {
			t.Skip("a builtin of the shell")
		}
		if name == "tail" && strings.Contains(strings.ToLower(words), "f") {
			t.Skip("it may wait for more")
		}
		fuzzCommand(t, append([]string{name}, strings.Split(words, "\n")...), input, map[string]string{"in": input, "a": "text\n", "b": "a b c\n1 2 3\n"})
	})
}

func Fuzz_Dc_Program(f *testing.F) {
	for _, s := range []string{
		"[la1+dsad9>m]sm0salmx", "5k2v 3^ 7 11|p f", "16i FF.8 2o p 99o p", "[[q]x[2Q]x]x 1 2>a !=b", "1 2:a 2;a Sa La Lb", "zRz_3R~XZaP", "? p", "[d1-d0<a]sa 9lax f", "_.5 9 9^ n 999999 k 2v", "!echo x\n#\n]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program string) {
		fuzzCommand(t, []string{"dc"}, program, nil)
	})
}

func Fuzz_Iconv_Text(f *testing.F) {
	for _, s := range []string{"UTF-8", "UTF-16", "UTF-32BE", "UCS-2", "CP1252", "ASCII//TRANSLIT", "IBM437", "LATIN9//IGNORE"} {
		f.Add(s, "UTF-8//TRANSLIT", "\xff\xfea\xc3\xa9\xf0\x9f\x98\x80\xd8\x00\xdc", uint16(1))
		f.Add("UTF-8", s, "“ä” ½ \xc3", uint16(0))
	}
	f.Fuzz(func(t *testing.T, from, to, input string, mode uint16) {
		fuzzCommand(t, append([]string{"iconv", "-f" + from, "-t" + to}, chosen(mode, "-c", "-o out", "in", "-s")...), input, map[string]string{"in": input})
	})
}
