package bc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func Test_Dc_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, program := range []string{
		"1 2+p", "10 3/p 5k10 3/p 10 3%p 10 3~f", "2 100^p", "2 10^ 7 |p", "2 10 7|p", "_5 p", "16i FFp 10p", "16o 255p 2o10p", "1 2 3 f", "1 2 3 c f", "1 2 r f", "1dff", "[hello]p", "[hello]n", "[p]dx", "[1p]x", "5sa la p la Sa La p", "1 Sa 2 Sa La p La p La", "lz p", "3 4 >a", "[yes]sa 1 2 <ap", "[[yes]p]sa 1 2 >a", "[[yes]p]sa 2 1 >a", "[[eq]p]sa 2 2 =a 2 2 !=a 1 2 !<a 1 2 !>a", "9v p 2 v p 5k2vp", "_1v", "1 0/", "1 0%", "0 0~", "+", "1+", "[a]1+", "zp", "1 2 zp", "123.45 Zp [abc]Zp", "1.234 Xp [a]Xp", "65aP [B]ap 0ap", "65P 10P 16706P 256P", "[abc]P", "1 2 q 3p", "[[q]x 5p]x 6p", "[[2Q]x 5p]x 6p", "[1Q 2p]x 3p", "?", "K p I p O p", "20k 1 3/p K p", "1i", "17i", "1o", "_1k", "1 2:a 2;ap 3;ap", "5 2:a 7 2:a 2;ap", "1:a", "!echo hi", "1 2 3 R f", "1 2 3 3R f", "1 2 3 _3R f", "1.5 2.5*p", "2k1.55 2.55*p", "0.1p .5p -1p", "1 2-p", "_1 2-p", "A p F p", "16iA.Fp", "1 2d+p", "dp", "p", "x", "1x p", "[a", "10 0^p 0 0^p 2 _2^p 5k2 _2^p", "2 .5^p", "2 1000^p", "C", "sx", "Lx", "1 sx Lx p Lx", "[", "1kp", "3k 2 3/ p 2 3 /n", "1.50 p 1.50 2+p", "100 3 5|p", "_7 3%p _7 3/p 7 _3~f", "2 3 _1|p", "2 _3 5|p", "2 3 0|p", "1 2.5:a", "1 _1:a", "1.5 a p", "[] ap", "1 2 3 k f", "[2 3+]sm lmx p", "[la 1+ dsa p 3>m]sm 0sa lmx", "1 0/f", "1 0%f", "1 0~f", "1+f", "[a]1+f", "1[a]+f", "2 3 0|f", "2 _3 5|f", "2 3 _5|f", "_2 3 5|f", "[a]2 3|f", "0 _1^f", "2 [a]^f", "2 99999999999^f", "_1vf", "[a]vf", "1if", "[a]if", "[a]kf", "1 [a]:af", "1 _1:af", "1 2.5:a 2;af", "[a];af", "_1;af", "[s]2:a 2;ap", "1of", "[x]R1 2 f", "1 2 3 0R f", "1 2 3 1R f", "1 2 3 99R f", "[a]Rf", "1.5Q", "_1Q 5p", "0Q 5p", "[a]Q 5p", "[0Q 5p]x", "[[[q]x]x 5p]x 6p", "[[[q]x 4p]x 5p]x 6p", "[[[1Q]x 4p]x 5p]x 6p", "[[[2Q]x 4p]x 5p]x 6p", "[[[5Q]x 4p]x 5p]x 6p", "[1 0/ 5p]x 6p", "0Zp 0.001Zp 0.0Zp 100Zp _12.5Zp .5Zp 00012Zp", "0.001Xp 0Xp", "_65P", "65.9P", "0P", "[ab]ap", "65.5ap", "321ap", "_65ap", "0an", "3 [a]sa 1 2 =a p", "1 [x] <a f", "1 s", "!", "!<", "16o 10 n 255.5 p", "17o 300p 16.5p", "1000o 123456p", "2o .1p 5k .1p", "16i A.8p FF Fp 10 2op", "2i 9p 12p 102p", ".p", "..p", "1.2.3f", "_p", "_.5p", "__5f", "1_2f", "0_5p", "-5f", "5 -p", "zzzf", "1 2 3 4 zR f", "[1p] [2p] r x x", "1d>a", "la x", "[]x 5p", "3sa [2]sa lap", "1Sa2Sa3sa LapLapLap", "1 0:a 0Sa 2 0:a La 0;ap", "1 0:a 1sa 0;ap", "K k I i O o f", "10 20 30 r f", "r", "1r f", "d", "c", "v", "Z", "X", "a", "P", "n", "1 2~f", "5k 10 3 ~f", "7.5 2 ~f", "7.5 2 %p", "2k 7.5 2 %p", "[abc", "[a[b]c]p", "5 5 *p;", "1:", "1 2 3:", "0k 1.23 4.56 *p 2k 1.23 4.56*p 9k 1.23 4.56*p", "1.23 4.56 +p 1.23 4.5 -p", "4 .5^p 4 1.9^p", "5k 2 _3^p 1.5 3^p", "1 1 1 1 + + + + p", "1 2 3 f c f 4 f", "5k 2v p 0v p 2.25v p 0k 2.25vp", "18446744073709551616p", "lxp", "0x 5", "[la1+dsad100000>m]sm0salmxlap", "0 1[lb]sb[ddrpr+lc1-dsc0<a]sa20sclax", "[[3]p]sa[2 1>a]x 5p", "2 3 4 _2R f", "100k 2vp", "20k 355 113/p", "3i.1p.2p", "17o 300.123p _.5p 5k.01p", "16i7.FFp", "2i.1p.11p 10.p",
		"1\n2+p\n# comment\n3p", "?p\n5 6\n7p", "1 2 =\n5p", "5#x", "[\xc3\xa9]Zp", "[a\nb]p",
	} {
		rows = append(rows, programtest.Row{Line: "dc", Stdin: program + "\n"})
	}
	for _, program := range []string{"1 s", "[abc", "1 l", "1 2:", "1 2>", "1 2!>", "5", "1p", "?"} {
		rows = append(rows, programtest.Row{Line: "dc", Stdin: program})
	}
	for _, args := range []string{
		"-e 1p -e 2p", "-e '1 2+' nosuch", "nosuch", "nosuch f", "-f nosuch -e 1p", "-e 1 -ef", "-e ?p", "-e 1p -", "-e 2p", "f -e 3p", "-f f f", "-e '[1p'", "-e '1 s'", "-e '1 s' -e 5p", "-e '[1 s]x 3p' -e 5p", "-e '[[q]x]x 5p' -e 6p", "-e 1Q -e 2p", "-e '5 1Qp' -e 6p", "-e '?5p' -e ?", "-e '2 400^n2 400^n'", "-e '[!]n 2 300^n'", "-e q -e 5p", "-e '[q]x' -e 5p", "-e '[?]xp'", "-e '0 1-65536*P'", "-e '5sa' -e lap", "--expression=4p", "--file=f", "d f", "-f d", "-e '!false'", "-e '!echo x; exit 3' -e 1p", "- f",
	} {
		rows = append(rows, programtest.Row{Line: "dc " + args, Stdin: "7p\n"})
	}
	for _, width := range []string{"10", "0", "1", "2", "3", "x", "-5"} {
		rows = append(rows, programtest.Row{Line: "dc -e '2 100^p 2 90^n [text]n 2 80^p'", Env: []string{"DC_LINE_LENGTH=" + width}})
	}
	programtest.RunReadOnly(t, "echo 3p >f; mkdir d", rows)
}

// The real one divides this message between its two outputs.
func Test_Dc_Reports_Unknown_Commands(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]string{"@": "'@' (0100)", "1 1 (p": "'(' (050)", "1p]": "']' (0135)", "\x01": "01", "\xff": "0377", "\r": "015"} {
		got := programtest.RunVirtual(t, programtest.NewVirtualTree(t, nil), "/w", []string{"dc"}, programtest.Row{Stdin: program})
		if got.Stderr != "dc: "+want+" unimplemented\n" || got.Status != 0 {
			t.Errorf("%q: %q, status %d", program, got.Stderr, got.Status)
		}
	}
}

func Test_Dc_Ends_When_It_Takes_Too_Much(t *testing.T) {
	t.Parallel()
	for _, program := range []string{
		"[lax]salax", "[lax 1]salax", "[1 lbx]sb lbx", "[dzR lax]sa 1 lax", "2[d*lax]salax", "100000k2v 3 7/p", "2 2 2 2 2 2^^^^^p", "9 9 9 9 9^^^^p", "[[x]lax]sa lax", "[dSb lax]sa 1 lax", "[z d:a lax]sa lax", "9[d* d 999999|lax]sax", "99999o 2[d*dnlax]salax",
		strings.Repeat("[", 1000000), strings.Repeat("9", 1000000) + "d*p", "2i" + strings.Repeat("9", 300000) + "p", strings.Repeat("[a]", 300000), "10 99999999^d|", "_1 99999999999999999999 9999999999999|p",
	} {
		t.Run(program[:min(len(program), 20)], func(t *testing.T) {
			t.Parallel()
			var out, msg bytes.Buffer
			p := shell.NewProc(t.Context(), shell.ProcOptions{
				Args: []string{"dc"}, Env: programtest.RealEnv(nil), Stdin: strings.NewReader(program + "\n"), Stdout: &out, Stderr: &msg,
				Limits: shell.Limits{Fuel: 1_000_000},
			})
			programtest.RunOf(t, "dc")(p)
			if p.Context().Err() != nil {
				t.Error("it goes on without end")
			}
		})
	}
}
