package dump_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/scripttest"
)

var dumpTree = scripttest.Files{
	"a":     "hello, world\nthis is a longer line of text\n",
	"b":     scripttest.AllBytes(),
	"z":     strings.Repeat("\x00", 100) + "end" + strings.Repeat("\x00", 64),
	"same":  strings.Repeat("0123456789abcdef", 10) + "x",
	"e":     "",
	"f":     "\x00\x00\x80\x3f\x00\x00\x00\x40\xdb\x0f\x49\x40\x00\x00\x00\x00\x00\x00\xf0\x3f\x18\x2d\x44\x54\xfb\x21\x09\x40\x00\x00\xc0\x7f\x00\x00\x80\xff\x00\x00\x00\x00\x00\x00\xf0\x7f",
	"s":     "ab\x00graph\x00longer string here\x00\x01\x02tail\nnext line\x00x",
	"w":     "h\x00e\x00l\x00l\x00o\x00\x00\x00\x00w\x00o\x00r\x00l\x00d\x01\x00",
	"one":   "x",
	"1x.y":  "name",
	"dump":  "00000000: 6865 6c6c 6f0a                           hello.\n00000010: 41\n",
	"plain": "68656c6c6f0a\n4142\n",
	"hf":    "\"%06_ax: \" 4/1 \"%02x \" \"\\n\"\n# comment\n\"%_Ad\\n\"\n",
}

func Test_Od_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	scripttest.RunReal(t, "od", scripttest.RowsOf(dumpTree,
		"od a", "od b", "od e", "od -c a", "od -c b", "od -a b", "od -An -tx1 a", "od -A d -t x1z a", "od -A x -t x1 -v z",
		"od z", "od -v same", "od same", "od -tx1 same", "od -b a", "od -d a", "od -f f", "od -tfD f", "od -tfF f", "od -tf4 -tf8 f", "od -tfL f",
		"od -i a", "od -l a", "od -o a", "od -s b", "od -x b", "od -tu1 b", "od -td1 b", "od -td2 -tx1 b", "od -tx1 -tc a", "od -tx1z -tc -tu4 a",
		"od -tx1z one", "od -tx8 b", "od -to8 b", "od -td8 b", "od -tu8 b", "od -td4 b", "od -j 5 a", "od -j 5 -N 10 -c a", "od -N 3 a", "od -N 0 a", "od -j 1000 a",
		"od -w8 -tx1 b", "od -w -tx1 b", "od -w5 -tx1 a", "od -w3 a", "od --endian=big -tx2 b", "od --endian=big -td4 b", "od --endian=little -tx2 a", "od --endian=big -tf4 f",
		"od -S 3 s", "od -S3 -An s", "od --strings s", "od -S 5 -A x s", "od a b", "od a nosuch b", "od nosuch", "od -c a +5", "od a 5", "od a 0x5", "od a 5.", "od +5 a", "od --traditional a 5 10",
		"od -t x1 -A n a", "od -t q a", "od -t x3 a", "od -t f3 a", "od -A q a", "od -j x a", "od -N 1y a", "od -q a", "od --nothing a", "od -tx1c b", "od -t a -t o1 -t x4 a",
		"od -N 1b b", "od -j 1k b", "od -tx2 < a", "cat a | od -c", "od - < a", "od -An -c e", "od -N 4 -tx1 -An a", "od -An -v -tu1 -w1 one", "od -td b", "od -tx b", "od -tuL a", "od -tdC a", "od -txS a", "od -t xI a",
		"od -w0 a", "od -t cx1 a", "od -S 99999999999999999999999 s", "od --format=x1 --address-radix=d a", "od --skip-bytes=3 --read-bytes=4 -c a", "od --output-duplicates z",
	))
}

func Test_Xxd_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	scripttest.RunReal(t, "xxd", scripttest.RowsOf(dumpTree,
		"xxd a", "xxd b", "xxd e", "xxd one", "xxd -c 8 b", "xxd -c8 b", "xxd -g 1 a", "xxd -g 4 a", "xxd -g 0 a", "xxd -g 3 b", "xxd -c 5 -g 2 a", "xxd -p a", "xxd -ps b", "xxd -plain a", "xxd -p -c 10 b", "xxd -p -c 0 b",
		"xxd -b a", "xxd -b -c 4 a", "xxd -b -g 2 a", "xxd -e a", "xxd -e -g 2 a", "xxd -e -g 8 b", "xxd -e one", "xxd -i a", "xxd -i 1x.y", "xxd -i e", "xxd -i < a", "xxd -C -i a", "xxd -i -n var a", "xxd -i -c 4 a", "xxd -u a", "xxd -u -i a", "xxd -u -p b",
		"xxd -a z", "xxd -a -c 8 z", "xxd z", "xxd -a same", "xxd -l 5 a", "xxd -l 0 a", "xxd -s 5 a", "xxd -s 0x5 a", "xxd -s -5 a", "xxd -s +5 a", "xxd -s 5 -l 10 a", "xxd -s 5 < a", "xxd -o 256 a", "xxd -d a", "xxd -E b", "xxd -len 4 a", "xxd -cols 4 a", "xxd -seek 3 a", "xxd -skip 3 a",
		"xxd -r dump", "xxd -r -p plain", "xxd -r -ps < plain", "xxd a | xxd -r", "xxd -p b | xxd -r -p", "xxd -p b | xxd -p -r", "xxd -c 7 b | xxd -r -c 7", "xxd -g 4 b | xxd -r", "xxd a out", "xxd -r dump out", "xxd -r -s 3 dump", "xxd nosuch", "xxd -u b | xxd -r", "xxd b | xxd -r - out", "printf '414g42\\n' | xxd -r -p",
		"printf '00000002: 4142\\n' | xxd -r", "printf '0: 41 42\\n' | xxd -r", "xxd -p e", "xxd -b e", "xxd -e -c 6 a", "xxd -g 300 a", "xxd -c 256 b", "xxd -c 300 b", "xxd -e -g 3 b",
	))
}

func Test_Hexdump_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	scripttest.RunReal(t, "hexdump", scripttest.RowsOf(dumpTree,
		"hexdump a", "hexdump b", "hexdump e", "hexdump one", "hexdump -C a", "hexdump -C b", "hexdump -C one", "hexdump -C z", "hexdump -C same", "hexdump -vC same", "hexdump -b a", "hexdump -c a", "hexdump -c b", "hexdump -d a", "hexdump -o a", "hexdump -x a", "hd a", "hexdump -C e",
		"hexdump -n 5 a", "hexdump -s 5 -C a", "hexdump -s 5 -n 10 -C a", "hexdump -n 16 -C same", "hexdump -e '16/1 \"%02x \" \"\\n\"' a", "hexdump -e '\"%08_ax  \" 8/1 \"%02x \" \"\\n\"' a", "hexdump -v -e '1/1 \"%02x\"' a", "hexdump -v -e '/1 \"%02X \"' a", "hexdump -e '4/4 \"%08x \" \"\\n\"' b", "hexdump -e '\"%d\\n\"' b",
		"hexdump -e '1/4 \"%10u|\" 1/2 \"%05d\" \"\\n\"' b", "hexdump -e '16/1 \"%_p\" \"\\n\"' b", "hexdump -e '16/1 \"%_c\" \"\\n\"' b", "hexdump -e '8/1 \"%_u \" \"\\n\"' b", "hexdump -e '1/8 \"%g\\n\"' f", "hexdump -e '1/4 \"%f\\n\"' f", "hexdump -e '\"%_Ad\\n\"' -e '16/1 \"%3d \" \"\\n\"' a",
		"hexdump -f hf a", "hexdump -e '8/1 \"%c\" \"\\n\"' a", "hexdump -e '1/5 \"%s|\"' a", "hexdump -e '\"%.5s|\"' a", "hexdump -C a b", "hexdump -C < a", "hexdump -e '2/2 \"%04x \" 4/1 \"%02x\" \"\\n\"' same", "hexdump -e '\"%-10_ad|\" 4/1 \"%-4x\" \"\\n\"' a", "hexdump -xb a", "hexdump -Cv z",
		"hexdump -e '3/1 \"%02x\" \" \"' a", "hexdump -e '16/1 \"%02x\" \"  |\" ' -e '16/1 \"%_p\" \"|\\n\"' a", "hexdump -n 0 a",
	))
}

func Test_Strings_Is_Like_The_Real_One(t *testing.T) {
	t.Parallel()
	scripttest.RunReal(t, "strings", scripttest.RowsOf(dumpTree,
		"strings a", "strings s", "strings b", "strings -n 2 s", "strings -3 s", "strings -n 10 s", "strings -t d s", "strings -t x s", "strings -t o s", "strings -o s", "strings -f s a", "strings -a s", "strings -w s", "strings -s '|' s", "strings -e l w", "strings -e l -t d w", "strings -e S b", "strings < s", "strings e", "strings nosuch", "strings -n 0 s", "strings --bytes=3 s", "strings -12 s",
	))
}

func Test_Base_Encodings_Are_Like_The_Real_Ones(t *testing.T) {
	t.Parallel()
	tree := scripttest.Files{
		"a": "hello, world\n", "b": scripttest.AllBytes(), "e": "", "l": strings.Repeat("long text ", 30),
		"bad": "aGVsbG8!\n", "short": "aGVsbG", "nl": "aGVs\nbG8=\n", "pad": "aGVsbG8=aGVsbG8=", "sp": "aGVs bG8=", "cat": "YQ==YQ==\n", "odd": "YR==",
		"x": "48656C6C6F", "z4": "test", "low": "48656c6c6f",
	}
	scripttest.RunReal(t, "basenc", scripttest.RowsOf(tree,
		"base64 a", "base64 b", "base64 e", "base64 l", "base64 -w 0 l", "base64 -w 20 l", "base64 -w 1 a", "base64 --wrap=10 a", "base64 < a", "base64 - < a", "base64 a | base64 -d", "base64 b | base64 --decode", "base64 l | base64 -d", "base64 -w 0 b | base64 -d",
		"base64 -d bad", "base64 -di bad", "base64 -d short", "base64 -d nl", "base64 -d pad", "base64 -d sp", "base64 -di sp", "base64 -d cat", "base64 -d odd", "base64 -w x a", "base64 -w -1 a", "base64 nosuch", "base64 a b", "base64 -q", "base64 -d e",
		"base32 a", "base32 b", "base32 b | base32 -d", "base32 -w 0 l", "base32 -d bad", "basenc a", "basenc --base64 a", "basenc --base64url b", "basenc --base64url b | basenc -d --base64url", "basenc --base32 a", "basenc --base32hex b", "basenc --base32hex b | basenc --base32hex -d",
		"basenc --base16 a", "basenc --base16 -d x", "basenc --base16 -d low", "basenc --base2msbf a", "basenc --base2msbf a | basenc --base2msbf -d", "basenc --base2lsbf a", "basenc --base2lsbf a | basenc --base2lsbf -d", "basenc --z85 z4", "basenc --z85 a", "basenc --z85 z4 | basenc --z85 -d", "basenc --z85 -d bad", "basenc --base16 b | basenc --base16 -d", "base64 .", "base64 -d --ignore-garbage sp", "basenc --base64 --base16 a", "basenc --base2msbf -w 9 a", "printf 'MZ======' | base32 -d", "printf 'MY======' | base32 -d", "printf 'M=======' | base32 -d", "printf 'Y===' | base64 -d",
	))
}
