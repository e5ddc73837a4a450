package awk_test

import (
	"bytes"
	"context"
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

// awkFiles are the input files of these rows.
const awkFiles = `printf 'a b\n1 2\nc d e\n\nbanana 5\n' > f
printf 'x:y:z\nfoo,bar,"q,r"\n1,2,3\n\n\n\npara two\nsecond line\nb;c;d\ta|b.c\n' > g
printf 'no newline at end' > one
mkdir dir`

// runAWKRows runs programs in both locales, on the files of awkFiles.
func runAWKRows(t *testing.T, programs []string) {
	t.Helper()
	var rows []programtest.Row
	for _, p := range programs {
		for _, locale := range []string{"C", "C.UTF-8"} {
			for _, files := range []string{"f", "g", "f one g"} {
				rows = append(rows, programtest.Row{Line: "gawk '" + p + "' " + files, Env: []string{"LC_ALL=" + locale}})
			}
		}
	}
	programtest.RunReadOnly(t, awkFiles, rows)
}

func Test_Awk_Evaluates(t *testing.T) {
	t.Parallel()
	runAWKRows(t, []string{
		`BEGIN{print 1+1}`,
		`BEGIN{print -3 % 2, 2**3**2, -2^2, !x+1, 1 - 1, 1 " " -1}`,
		`BEGIN{print substr("hello",0,2), substr("hello",-1,3), substr("hello",2), substr("hello",1.5,1), index("abc","c"), 1e6, 1e20, 0.1+0.2, 100000*100000, 2^53, 2^53+1, 1e300*1e300, -1e300*1e300}`,
		`BEGIN{print toupper("abcé"), tolower("ABCÉ"), length("é"), substr("héllo",2,1), index("héllo","l")}`,
		`BEGIN{print length()}  {print NF; $7="x"; print; print NF; NF=2; print; $0="q w e"; print $2}`,
		`{ $2=""; print; print NF }`,
		`{ $1=$1; print }`,
		` NR==2`,
		`NR==1,NR==2{print NR": "$0}`,
		`/b/,/d/`,
		`!/a/`,
		`END{print NR, $0}`,
		`{print $NF, $(NF-1)}`,
		`BEGIN{i=5; print i++ + ++i, i--, --i; print 1==1.0, "a"<"b", "10"<"9", 10<9, "abc"<1; x="3x"; print x+0, -x, +x}`,
		`BEGIN{print 1>2?"a":"b"; print (1>2)?"a":"b"}`,
		`BEGIN{print length(x), x+0, x==0, x==""}`,
		`$1==1{print "one"} $1=="1"{print "str"} $1>0{print "pos"}`,
		`BEGIN{do{i++; if(i==3)continue; if(i>5)break; print i}while(1)}`,
		`BEGIN{for(;;){if(++i>3)break}; print i}`,
		`BEGIN{switch("b"){case "a":print 1;case "b":print 2;case /c/:print 3;break;default:print 4}}`,
		`BEGIN{switch(5){case 1:print 1;break;default:print "d"}}`,
		`BEGIN{print strftime("%Y-%m-%d %H:%M:%S",0,1), strftime("%d/%b/%y %Z",86400), mktime("2024 01 02 03 04 05"), mktime("bad")}`,
		`BEGINFILE{print "bf",FILENAME} ENDFILE{print "ef",FNR} END{print NR}`,
		`FNR==2{nextfile}{print FILENAME,FNR,$0}`,
		`BEGIN{exit 3} END{print "end"}`,
		`{exit} END{print NR; exit 4}`,
		`BEGIN{exit} END{print "e"}`,
		`{print typeof($1), typeof($9)}`,
		`BEGIN{print -0, 0*-1, -0.0, 1e-5, 123456.789, 1234567.89, 0.00001234, 1e5, 1e16, 1e17,3.0,"3.0"+0, 100/3, 1e100}`,
		`BEGIN{print "a\tb\\n\x41\101\/"}`,
		`BEGIN{print "a" "b" "c", 1 2, 1+2 "x" 3*4}`,
		`BEGIN{print length "x"}`,
		`{print length, length $0}`,
		`BEGIN{a="x"; a=a a a; print a; $3="z"; print NF, $0}`,
		`BEGIN{$0="a b c"; $5="e"; print; NF=3; print; $2=""; print NF; print}`,
		`BEGIN { print "A" < "a", "a" < "B" }`,
		`BEGIN{print 010+0, "010"+0, "1e3"+0, ".5."+0, "+5"+0, "- 5"+0, "0x1A"+0, "inf"+0, "nan"+0, "+inf"+0}`,
		`BEGIN{print log(0), exp(1), sqrt(2), sin(1), cos(1), atan2(1,2), int(-3.7), exp(1000), log(10)}`,
		`BEGIN{print (1 < 2) (3 > 2)}`,
		`BEGIN{print 5 " items"; print 5" "-1; print "x" -1}`,
		`BEGIN { print 2 * 3 4; print 1 - -1; print 2 - 1 " " 3; a = b = 4; print a b; a += a += 2; print a }`,
		`/^$/{print "empty", NR}`,
		`{print toupper(substr($0,1,1)) substr($0,2)}`,
		`{$0=tolower($0); print; print $1}`,
		`{sum=0; for(i=1;i<=NF;i++) sum+=$i; print sum}`,
		`length>3`,
		`!seen[$0]++`,
		`NF`,
		`{print NR%2?"odd":"even"}`,
		`BEGIN{a="10"; b=9; print (a>b), (a""<b""); $0="10 9"; print ($1>$2)}`,
		`BEGIN{ if (1) ; else print "x"; print "ok" }`,
		`BEGIN{ if (0) print "a"; else if (1) print "b"; else print "c" }`,
		"BEGIN{ if (0) print \"a\"\nelse\nprint \"b\" }",
		"BEGIN { for (i=0;i<3;i++)\n  print i\n}",
		`BEGIN{ while (i<3) i++; print i }`,
		`BEGIN{x = 1; x ^= 3; x **= 2; x *= 5; x /= 2; x %= 3; x -= 1; print x}`,
		`BEGIN{$2="x"; print NF; print $0; print ($1=="")}`,
		"BEGIN{print \"\\\"quoted\\\"\" , \"a\\\nb\"}",
		`BEGIN { print length("a\0b") }`,
		`{ print; next; print "no" }`,
		`BEGIN { ARGV[1]=""; print ARGC } {print}`,
		`BEGIN { print index("foobar","bar"); print substr("foobar", index("foobar","b")) }`,
		`BEGIN{srand(1); a=rand(); srand(1); b=rand(); print (a==b), (a>=0 && a<1), srand(5), srand()}`,
		`BEGIN { print length(1/3), 1/4 }`,
		`BEGIN { print 1e3, 1E-3, .5, 5., 0x10, 1e+2 }`,
		`BEGIN { print substr("hello", "2"), substr(12345, 2, 3) }`,
		`BEGIN { print toupper(x) "." tolower(1E3) }`,
		`BEGIN{f(1)}`,
		`BEGIN{print 1/0}`,
		`{print 1/($1-$1)}`,
		`BEGIN{a=0; print 5%a}`,
		`/(/`,
		`BEGIN{print 1`,
		`BEGIN{print )}`,
		`BEGIN{return 1}`,
		`BEGIN{next}`,
		`BEGIN { print substr("hello") }`,
		`BEGIN{$-1="x"}`,
		`{print $(-1)}`,
		`BEGIN{f=1; f()}`,
		`BEGIN { print "unterminated`,
		`BEGIN { print /abc }`,
		`{ print $1, }`,
		`BEGIN { if (1 { } }`,
		`BEGIN{print length(a b c) length}`,
		`BEGIN{print substr("hello",2,3)>"/dev/stdout"}`,
		`BEGIN { a = "A"; b = a++; print a, b; c = "3.5abc"; c++; print c }`,
		`{ $3 = "new"; print; print NF }`,
		`{ $(NF+2) = "end"; print }`,
		`BEGIN { print -"3", +"4x", "5" + "6" }`,
		`NR>1 && $1!=prev { print prev "->" $1 } { prev=$1 }`,
	})
}

func Test_Awk_Keeps_Arrays_And_Calls(t *testing.T) {
	t.Parallel()
	runAWKRows(t, []string{
		`BEGIN{PROCINFO["sorted_in"]="@ind_str_asc"; a[7]=1; a["07"]=2; a["7"]++; a[-1]=3; a[1000000000]=4; a[""]=5; a["+7"]=6; a[7.0]++; a[70]=7; a["7 "]=8; a[1e9]++; a[0]=9; a["00"]=10; a[-0]++; for(k in a) print k, a[k]; print length(a), (7 in a), ("007" in a), (8 in a)}`,
		`BEGIN{PROCINFO["sorted_in"]="@ind_num_asc"; for(i=300;i>=0;i--) a[i]=i; for(i=0;i<300;i+=2) delete a[i]; print length(a); for(k in a) s=s " " k; print s; a[2]="again"; a[500]="far"; for(i=301;i<600;i++) a[i]++; print length(a), a[2], a[500], (4 in a); delete a; print length(a); a[1]=1; for(k in a) print k, a[k]}`,
		`{n=gsub(/[a-c]/,"<&&>"); print n, $0; n=gsub(/x*/,"-"); print n, $0; print gensub(/(.)(.)/,"\\2\\1","g"), gensub(/z/,"y",1)}`,
		`BEGIN{x[1]=1;x[2];print length(x); delete x[1]; print length(x); delete x; print length(x)}`,
		`{a[$1]++} END{for(k in a) n++; print n}`,
		`function f(a,b){a[1]=b; return b*2} BEGIN{print f(x,3), x[1]}`,
		`function fact(n){return n<=1?1:n*fact(n-1)} BEGIN{print fact(10), fact(20), fact(25)}`,
		`function g(x){x=5} BEGIN{y=1;g(y);print y}`,
		`function fib(n){return n<2?n:fib(n-1)+fib(n-2)} BEGIN{print fib(15)}`,
		`BEGIN{PROCINFO["sorted_in"]="@ind_str_asc"; a["b"]=2;a["a"]=3;a["c"]=1; for(k in a)print k; PROCINFO["sorted_in"]="@val_num_desc"; for(k in a)print k; n=asort(a,b); for(i=1;i<=n;i++)print b[i]; n=asorti(a,b); for(i=1;i<=n;i++)print b[i]}`,
		`function cmp(i1,v1,i2,v2){return v2-v1} BEGIN{a[1]=3;a[2]=9;a[3]=5;n=asort(a,b,"cmp");for(i=1;i<=n;i++)print b[i]; PROCINFO["sorted_in"]="cmp"; for(k in a)print k}`,
		`BEGIN{a[1][2]=3;a[1][3]=4;a[2][1]=5; for(i in a)for(j in a[i])s+=a[i][j]; print s, length(a), length(a[1]), isarray(a[1]), isarray(a[1][2]); delete a[1][2]; print length(a[1])}`,
		`BEGIN{print typeof(x),typeof(1),typeof("a"),typeof(a[1]),typeof(a)} `,
		`BEGIN { if (!(3 in a)) print "no"; print (1,2) in a }`,
		`BEGIN { x["a"]; for (k in x) print k, x[k]==0, x[k]=="" }`,
		`{a[NR]=$0} END{for(i=NR;i>0;i--)print a[i]}`,
		`function max(a,b){return a>b?a:b}{m=max(m,length($0))}END{print m}`,
		`BEGIN { a["k"]="v"; for (k in a) { delete a[k] }; print length(a) }`,
		`function f(a){ a["x"]=1 } BEGIN { f(arr); for (k in arr) print k }`,
		`function r(n) { if (n>0) { r(n-1); print n } } BEGIN { r(3) }`,
		`function f(x, i, s) { for (i=1;i<=x;i++) s = s i; return s } BEGIN { print f(3), f(2) }`,
		`BEGIN{x=1;x[1]=2}`,
		`BEGIN{a[1];print a}`,
		`function f(a,a){}`,
		`BEGIN { print 1 in a, length(a); if (("x","y") in a) print "bad" }`,
		`BEGIN { x["a"]=1; y = "a" in x; print y; print !("b" in x) }`,
	})
}

func Test_Awk_Reads_And_Writes_Streams(t *testing.T) {
	t.Parallel()
	runAWKRows(t, []string{
		`BEGIN{printf "%c%c%c|%5.2f|%-5d|%05d|%x|%o|%e|%G|%i|%+d|%s\n", 65, "hello", 256, 3.14159, 42, 42, 255, 8, 12345.678, 1e-10, 3.9, 5, 1e20}`,
		`BEGIN { printf "%*d|%-*d|%.*f\n", 5, 42, 5, 42, 2, 3.14159; printf "%2$s %1$s\n", "a", "b"; printf "%5s|%-5s|%.2s|%c\n", "abc","abc","abc",""; printf "%%|%5%|%z\n" }`,
		`BEGIN{RS=""}{print NR": "$1"|"$2; print NF}`,
		`BEGIN{RS="";FS="\n"}{print NR": "$1"|"$2}`,
		`BEGIN{RS="[0-9]+"}{print $0 "|" RT "|"}`,
		`BEGIN{while((getline l < "f")>0) print "g",l; close("f"); getline < "f"; print $0, NR}`,
		`BEGIN{"echo a b"|getline; print $2, NR; "echo q" | getline z; print z, NR}`,
		`NR==1{getline; print "got", $0, NR} {print}`,
		`NR==1{getline x; print "got", x, NR, $0} {print}`,
		`BEGIN { while (("cat f" | getline line) > 0) n++; print n }`,
		`BEGIN{FPAT="([^,]+)|(\"[^\"]+\")"}{print NF; for(i=1;i<=NF;i++)print i,$i}`,
		`BEGIN{FIELDWIDTHS="2 3 1"}{print $1"|"$2"|"$3; print NF}`,
		`BEGIN{print > "/dev/stderr"; print "x" > "/dev/stdout"; printf "y\n" > "/dev/stdout"}`,
		`BEGIN{print "b\na\nc" | "sort"; close("sort"); print "end"}`,
		`BEGIN{print "x" | "cat"; print "y"}`,
		`BEGIN{print system("exit 3"), system("true"); r=system("echo hi; exit 2"); print r}`,
		`BEGIN{"exit 5"|getline; print close("exit 5"), close("nope")}`,
		`BEGIN{print substr("hello",2,0), substr("hello",-1), substr("hello",10), substr("hello", 0), substr("hello",1,-1) "|"}`,
		`BEGIN{print !0 + !1, !"a", !"", - - 1; print 1&&0||1, 0||0}`,
		`/a|c/{print NR}`,
		`BEGIN{getline; print "first " $0} {print "rest " $0}`,
		`BEGIN { printf "%5.1f|%-10s|%+.3e|%#o|%#x\n", 3.14159, "left", 12345.6789, 8, 255 }`,
		`BEGIN{print "a" ~ "\\.", "." ~ /\./, "a+b" ~ /a\+b/, "ab" ~ /^(a|b)+$/, "]" ~ /[]]/, "a-b" ~ /[a\-z]-/, "/" ~ /[/]/, "\\" ~ /\\/, "x{2}" ~ /x\{2\}/, "xx" ~ /^x{2}$/, "a{" ~ /a{/ }`,
		`END { while ((getline line < ARGV[1]) > 0) n++; print n }`,
		`BEGIN { print ENVIRON["HOME"], ENVIRON["NOPE"] "|" }`,
		`function f(){ return } BEGIN { x = f(); print x "|" x+0 }`,
		`BEGIN { getline line < "nofile"; print ERRNO; print (getline line < "nofile") }`,
		`BEGIN { printf "a\n" | "cat 1>&2"; }`,
		`BEGIN { print "x" > "/nodir/x" }`,
		`BEGIN{getline x; print x; nextfile}`,
		`BEGIN{"echo x" |& getline y; print y; print "b\na" |& "sort"; close("sort","to"); while(("sort" |& getline z)>0) print "s",z; print close("sort")}`,
		`BEGIN { NF=3; print $0 "|"; NR=10; print NR } { print NR }`,
		`BEGIN{FS="|"}{print $1}`,
		`BEGIN{FS="\\|"}{print NF}`,
		`BEGIN{printf "%.3d|%8.3d|%-8.3d|\n", 5, 5, 5; printf "%.0f %.0f %.0f\n", 0.5, 1.5, 2.5; printf "%g %g %g %g\n", 100000, 1000000, 0.0001, 0.00001}`,
		`BEGIN { while ("echo a; echo b" | getline x) print x }`,
		`BEGIN{RS="x|b"}{print NR ":" $0 ":" RT}`,
	})
}

func Test_Awk_Formats(t *testing.T) {
	t.Parallel()
	runAWKRows(t, []string{
		`BEGIN{printf "%d %d %d\n", 2^31, 1e18, 1e19; print substr("hello", 2^53); print 1e18, 123456789012345678, 0x11, 011, "0x11"+0; print length(12345), 1/3; OFMT="%.2f"; print 1/3, 1/3 ""; print strtonum("0x1F"), and(12,10), or(12,10), xor(12,10), lshift(1,4), rshift(16,2), compl(0)}`,
		`BEGIN{printf "%s %s %s\n", "a"}`,
		`BEGIN { printf "%s\n" }`,
		`BEGIN { x = "A"; printf x "\n" }`,
		`BEGIN{CONVFMT="%.2g"; a=3.14159; b=a ""; print b; x[a]=1; for(k in x)print k; print 12 ""}`,
		`{for(i=NF;i>0;i--) printf "%s%s", $i, (i>1?OFS:ORS)}`,
		`BEGIN{printf "%s %d %5.2f%%\n", "abc", "12abc", 45.678}`,
		`BEGIN{printf("%s-%s\n", "a", "b"); print("x","y"); print("p")("q")}`,
		`BEGIN{printf "%c%c", 0, 255}`,
		`BEGIN{printf "%c", 233; printf "%c", "é"}`,
		`BEGIN{printf "%d %i\n", "0x1f", -3.99; printf "%x %X %o\n", -1, 255.9, -8; printf "%u\n", -1}`,
		`BEGIN{printf "[%10.3s] [%-10s] [%010d] [%+5d] [% d]\n","abcdef","hi",-42,7,7}`,
		`BEGIN{OFMT="%d"; print 3.7, 3.2 ""; x = 17.23; print x}`,
		`BEGIN{printf "%s", "no newline"}`,
		`BEGIN { print length(sprintf("%c", 256)) }`,
		`{ n = split($0, chars, ""); for (i=n;i;i--) printf chars[i]; print "" }`,
	})
}

func Test_Awk_Matches_And_Splits(t *testing.T) {
	t.Parallel()
	runAWKRows(t, []string{
		`BEGIN{n=split("a:b:c",a,":"); print n,a[1],a[3]; n=split("",a); print n, length(a); n=split("abc",a,""); print n,a[2]; n=split("  a b  ",a); print n,a[1]; n=split("a1b22c",a,/[0-9]+/,s); print n,s[1],s[2]; n=split(" a  b ",a," ",s); print n, "[" s[0] "][" s[1] "][" s[2] "]"}`,
		`BEGIN{s="hello"; gsub(/l/,"[&]",s); print s; s="aaa"; print gsub(/x*/,"-",s), s; s="abc"; gsub(//,"-",s); print s; s="a.b.c"; gsub(".","x",s); print s; s="a.b"; gsub("\\.","x",s); print s; s="path/x"; sub("/","\\&",s); print s; s="abc"; sub(/b/,"\\\\&",s); print s}`,
		`BEGIN{print gensub(/(a)(b)/,"\\2\\1","g","abab"), gensub(/a/,"x",2,"aaa"), gensub(/x/,"y","g","abc"), gensub("b","[\\0]","G","abc"), gensub(/a/,"x","z","aa")}`,
		`BEGIN{OFS="-"}{$1=$1;print;print $1,$2}`,
		`BEGIN{FS=":"}{print $2}`,
		`BEGIN{RS="b"}{print}`,
		`BEGIN{ORS=";"}{print}`,
		`BEGIN{a["x"]=1;a["y"]=2; if("x" in a) print "yes"; if(!("z" in a)) print "no"; a[1,2]=3; if((1,2) in a) print "multi"; for(k in a) if (split(k,p,SUBSEP)==2) print p[1],p[2]}`,
		`BEGIN{IGNORECASE=1; if("ABC"~/b/)print "yes"; print gsub(/a/,"x",s="AaA"); print index("ABC","b"); print "a"=="A"}`,
		`$0 ~ "a.b"`,
		`$1 ~ /^[[:alpha:]]+$/`,
		`{gsub(/[aeiou]/,"<&>"); print}`,
		`BEGIN{print substr("x",1,1e10) index("","") index("a","") match("a",//)}`,
		`BEGIN{print "foo bar" ~ /\yfoo\y/, "foobar" ~ /\<foo\>/, "a_b" ~ /^\w+$/, " " ~ /\s/, "*a" ~ /*a/, "+" ~ /+/}`,
		`BEGIN{regex="^[0-9]+$"; if ("123" ~ regex) print "num"; if ("12a" !~ regex) print "not"}`,
		`BEGIN { s = "a b c"; n = gsub(" ", "_", s); print n, s; t="aaa"; sub("a","b",t); print t; gsub(/$/,"!",t); print t; gsub(/^/,">",t); print t; u="hello world"; gsub(/o\>/,"0",u); print u }`,
		`BEGIN{s="foo.bar"; gsub(/\./,"\\.",s); print s; s="a&b"; gsub(/&/,"and",s); print s; gsub(/and/,"\\&",s); print s; s="x"; gsub(/x/,"a\\\\b",s); print s}`,
		`BEGIN{x="("; print "a" ~ x}`,
		`BEGIN { FS="," } { print $2 } NR==1 { FS=":" }`,
		`BEGIN{FS="\t"}{print $1}`,
		`BEGIN{FS="."}{print $1}`,
		`BEGIN{FS="[ ]"}{print NF}`,
		`BEGIN{FS="^a"}{print $2}`,
		`BEGIN{FS=""}{print $2, NF}`,
		`BEGIN { n = patsplit("a1b22c", p, /[0-9]+/, s); print n, p[1], p[2], s[0], s[1], s[2] }`,
		`BEGIN{RS=";"}{print NR, $0}`,
		`BEGIN{RS="\n\n+"}{print NR ":" $0}`,
	})
}

func Test_Awk_Takes_Options_And_Operands(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, []programtest.Row{
		{Setup: "echo '{print FILENAME, x}' > p; echo 1 > f", Line: "gawk -f p x=1 f x=2 f"},
		{Setup: "echo a:b > f", Line: "gawk -F: '{print $2}' f"},
		{Setup: "echo a:b > f", Line: "gawk -F : -v OFS=- '{$1=$1; print}' f"},
		{Setup: "echo atb > f", Line: "gawk -Ft '{print $1}' f"},
		{Setup: "printf 'a\\tb\\n' > f", Line: `gawk -F\t '{print $2}' f`},
		{Setup: "echo 'a|b' > f", Line: "gawk -F'|' '{print $2}' f"},
		{Setup: "echo 'a||b' > f", Line: "gawk -F'[|]+' '{print $2}' f"},
		{Line: `gawk -v 'x=a\tb' 'BEGIN{print x}'`},
		{Line: `gawk -v 'x=010' 'BEGIN{print x+0, x}'`},
		{Line: "gawk -v 1x=3 'BEGIN{}'"},
		{Line: "gawk -f nofile"},
		{Line: "gawk '{print}' nofile"},
		{Line: "gawk '{print}' dir", Setup: "mkdir dir"},
		{Line: "gawk '{print}' dir f", Setup: "mkdir dir; echo x > f"},
		{Line: "gawk '{print}' - ", Stdin: "in\n"},
		{Line: "gawk -e 'BEGIN{x=1}' -e 'BEGIN{print x}'"},
		{Line: "gawk -i inplace '{gsub(/a/,\"b\"); print}' f g", Setup: "echo aa > f; echo ca > g", Loose: programtest.NoTimes},
		{Line: "gawk '{print > (\"out_\" NR \".txt\")}' f", Setup: "printf 'a\\nb\\n' > f"},
		{Line: "gawk 'BEGIN{print \"a\" > \"o1\"; print \"b\" >> \"o1\"; close(\"o1\"); print \"c\" >> \"o1\"}'"},
		{Line: "gawk 'BEGIN{print ARGV[0], ARGV[1], ARGC}' a b"},
		{Line: "gawk -- 'BEGIN{print 1}'"},
		{Line: "gawk -b 'BEGIN{print length(\"é\")}'", Env: []string{"LC_ALL=C.UTF-8"}},
	})
}

func Test_Awk_Refuses_Unknown_Options(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"awk", "--lint", "1"}, {"awk", "-Z", "1"}, {"awk", "-M", "1"}, {"awk", "-l", "x", "1"}, {"awk", "-v", "x", "1"}, {"awk"}} {
		o := programtest.RunVirtual(t, vfs.New(vfs.Options{}), "/", args, programtest.Row{})
		if o.Status == 0 || o.Stderr == "" || o.Stdout != "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
}

func Test_Awk_Reads_CSV(t *testing.T) {
	t.Parallel()
	o := programtest.RunVirtual(t, vfs.New(vfs.Options{}), "/", []string{"awk", "--csv", `{print NF; for (i=1;i<=NF;i++) print "<" $i ">"}`},
		programtest.Row{Stdin: "a,\"b,c\",\"d\"\"e\"\n,,\n\"x\ny\",z\r\n"})
	want := "3\n<a>\n<b,c>\n<d\"e>\n3\n<>\n<>\n<>\n2\n<x\ny>\n<z>\n"
	if o.Stdout != want || o.Status != 0 {
		t.Errorf("%+v, want %q", o, want)
	}
}

func Test_Awk_Ends_When_It_Takes_Too_Much(t *testing.T) {
	t.Parallel()
	for _, program := range []string{
		"BEGIN{while(1);}", "BEGIN{for(;;) x = x \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\"}", "BEGIN{x=\"y\"; for(;;) x = x x}",
		"BEGIN{for(;;) a[i++]}", "function f(n){return f(n+1)} BEGIN{f(1)}", "BEGIN{printf \"%999999999d\", 1}",
		"BEGIN{$1000000000=1}", "BEGIN{NF=1000000000}", "BEGIN{while((\"while :; do echo y; done\" | getline x) > 0) n++}",
		"BEGIN{for(;;) s = sprintf(\"%s%s\", s, \"0123456789012345678901234567890123456789\")}",
	} {
		t.Run(program, func(t *testing.T) {
			var out, msg bytes.Buffer
			p := shell.NewProc(t.Context(), shell.ProcOptions{
				Args: []string{"awk", program}, Env: programtest.RealEnv(nil), Stdout: &out, Stderr: &msg, Commands: coreutils.Commands(), Limits: shell.Limits{Fuel: 1_000_000},
			})
			if status := programtest.RunOf(t, "awk")(p); status == 0 {
				t.Errorf("status 0, %.200q", out.String())
			}
		})
	}
}

func FuzzAwk(f *testing.F) {
	for _, s := range []string{
		"{print $1}", "BEGIN{x[1]=2; for(k in x) print k}", "/a[b]/,/c/{gsub(/x/,\"&&\")}", "function f(a){a[1]=1} BEGIN{f(x)}",
		"BEGIN{printf \"%5.2f %s %c\\n\", 1, 2, 3}", "BEGIN{while(i<3) i++; do i--; while(i); switch(i){case 1: break; default: print}}",
		"BEGIN{$3=1; NF=2; print $0; split(\"a b\",z,/ /,s); print substr(z[1],0,2) gensub(/(a)/,\"\\\\1\",\"g\",\"a\")}",
	} {
		f.Add(s, "a b c\n1 2 3\n")
	}
	f.Fuzz(func(t *testing.T, program, in string) {
		ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(5*time.Second))
		defer cancel()
		p := shell.NewProc(ctx, shell.ProcOptions{
			Args: []string{"awk", program}, Stdin: strings.NewReader(in), Stdout: io.Discard, Stderr: io.Discard,
			Limits: shell.Limits{Fuel: 200_000},
		})
		programtest.RunOf(t, "awk")(p)
		if ctx.Err() != nil {
			t.Errorf("%q takes too long", program)
		}
	})
}
