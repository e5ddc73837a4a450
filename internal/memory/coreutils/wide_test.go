package coreutils_test

import (
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

// rowsOfText makes a row of each line; what follows " <<< " is standard input, with the escapes of C.
func rowsOfText(setup, text string, l programtest.Looseness) []programtest.Row {
	var rows []programtest.Row
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		r := programtest.Row{Setup: setup, Line: line, Loose: l}
		if command, input, ok := strings.Cut(line, " <<< "); ok {
			r.Line, r.Stdin = command, strings.NewReplacer(`\n`, "\n", `\0`, "\x00").Replace(input)
		}
		rows = append(rows, r)
	}
	return rows
}

func Test_Files_Are_Changed_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, rowsOfText("mkdir -p d/sub e; echo one > a; echo two > b; echo three > d/x; echo four > d/sub/y; ln -s a l; ln -s d ld; ln -s nowhere broken; touch -d 2020-01-01 a d/x; touch -d 2021-01-01 b; chmod 600 b; echo old > e/a; touch -d 2019-01-01 e/a; mkfifo p; chmod 755 d/sub/y; ln a hard; touch 'sp ace'", `
cp a new
cp -v a b e
cp -rv d new
cp -r d e
cp -a d new
cp -a l ld broken e
cp -rL d l ld e
cp -P l new
cp -H ld new
cp -rH ld new
cp l new
cp broken new
cp -d broken new
cp -u a e
cp -u b e/a
cp -uv a b e
cp -n a e
cp -nv a e
cp -f a e/a
cp -i a e <<< y\n
cp -i a e <<< n\n
cp -b a e
cp --backup a e
cp --backup=numbered a e
cp --backup=t a e
cp -S .orig a e
cp -b -S ~~ a e
cp -l a e/new
cp -lr d new
cp -s a new
cp -s a e/
cp -rs d new
cp -T d new
cp -rT d e
cp -t e a b
cp -t nosuch a
cp --parents d/sub/y e
cp --parents -v d/sub/y e
cp -r --parents d/sub e
cp -p a new
cp -p b new
cp --preserve=mode b new
cp --preserve=timestamps a new
cp --no-preserve=mode b new
cp -a --no-preserve=timestamps a new
cp --preserve=all a new
cp --preserve=links a hard e
cp -a a hard e
cp -r p new
cp -x a new
cp d new
cp a nosuch/
cp a nosuch/x
cp nosuch new
cp a a
cp -f a a
cp a hard
cp -b a a
cp a e/a e
cp a b new
cp
cp a
cp --remove-destination a e/a
cp --attributes-only b new
cp --strip-trailing-slashes ld/ new
cp -r ld/ new
cp -rv ld/. new
cp --reflink=auto a new
cp --sparse=always a new
cp --sparse=x a new
cp --reflink=x a new
cp --backup=x a new
cp --preserve=x a new
cp --update=none a e
cp -Z a new
cp 'sp ace' 'new name'
cp -v 'sp ace' 'new name'
cp a b d e -v
cp -R d/. e
cp /dev/null new
cp /dev/null a
cp a l
cp --debug a new
mv a new
mv -v a new
mv a b e
mv -v a b d e
mv -n a e
mv -nv a e
mv -i a e <<< y\n
mv -i a e <<< n\n
mv -f a e
mv -b a e
mv --backup=numbered a e
mv -S .x -b a e
mv -u a e
mv -u b e/a
mv -t e a b
mv -t e
mv -T d new
mv -T a e
mv -T d e
mv d e
mv d d/sub
mv d d
mv a a
mv a hard
mv a nosuch/
mv a nosuch/x
mv nosuch new
mv a b new
mv
mv a
mv d a
mv a d
mv e d
mv l new
mv ld new
mv ld/ new
mv broken e
mv p e
mv 'sp ace' x
mv --strip-trailing-slashes d/ new
mv -Z a x
mv --bogus a b
mv -vT d new
mv -n a new
mv --exchange a b
mv a e/
mv -vi a b e <<< y\ny\n
mv --update=none a e
ln a new
ln -s a new
ln -sv a new
ln -s a e
ln -s a b e
ln -sf b l
ln -sfn e ld
ln -sf e ld
ln -sfT e ld
ln -sn a ld
ln -s a b
ln -f a b
ln -b a b
ln -sb a b
ln -S .x -b a b
ln --backup=t -s a b
ln -r -s d/x new
ln -rs d/x e/new
ln -rsv d/sub/y e
ln -sr a d/sub/z
ln -t e a b
ln -s -t e a
ln d new
ln -L l new
ln -P l new
ln nosuch new
ln -s nosuch new
ln a
ln
ln -s
ln -s a a
ln a a
ln -i a b <<< y\n
ln -i a b <<< n\n
ln -v a new
ln -vs a new e
ln -F d new
ln -s '' new
ln -r a new
ln -sfv a l
ln -fs d/x new/
install a new
install -m 600 a new
install -m u=rwx,go= a new
install -d x/y/z
install -dv x/y
install -d -m 700 x/y
install -D a x/y/z
install -Dv a x/y/z
install -D -t x/y a b
install -t e a b
install a b e
install -v a b e
install -p a new
install -b a e
install -S .x -b a e
install -C a new
install -Cv a e
install d new
install nosuch new
install a
install
install -m x a new
install -T a e
install -T a new
install -o root -g root a new
install a d/
install -d a
install -D a e
install -m 4755 a new
rm a
rm -v a b
rm d
rm -r d
rm -rv d
rm -rf nosuch d
rm -f nosuch
rm nosuch
rm -d e
rm -d d
rm -i a <<< y\n
rm -i a <<< n\n
rm -I a b d/x l <<< y\n
rm -I -r d <<< n\n
rm -I -r d <<< y\n
rm -r .
rm -r ..
rm -rf d/.
rm -r /
rm --one-file-system -r d
rm --preserve-root=all -r d
rm --no-preserve-root x
rm ld
rm ld/
rm -r ld/
rm -r ld
rm broken
rm -- -x
rm
rm -f
rm -rf ''
rm ''
rm -vf a nosuch
rm --interactive=never a
rm --interactive=always a <<< y\n
rm --interactive=once a b d/x l <<< n\n
rm --interactive=x a
rm a/
rm -rfv d a nosuch l
mkdir new
mkdir -v new
mkdir -p x/y/z
mkdir -pv x/y/z
mkdir -pv d/sub/z
mkdir -m 700 new
mkdir -m 777 new
mkdir -m u=rwx,g=s,o= new
mkdir -m +t new
mkdir -m 1777 new
mkdir -p -m 700 x/y
mkdir -m x new
mkdir d
mkdir -p d
mkdir -p a
mkdir a/b
mkdir -p a/b
mkdir -p l/b
mkdir -p ld/new
mkdir x/y
mkdir
mkdir ''
mkdir -p ''
mkdir new/ new2//
mkdir -p x/../y
mkdir x y d z
rmdir e
rmdir d
rmdir -p d/sub
rmdir --ignore-fail-on-non-empty d
rmdir -v e
rmdir nosuch
rmdir a
rmdir ld
rmdir
rmdir e/
touch new
touch -c new
touch -d 2020-02-02 a
touch -t 202002020304.05 a
touch -t 02020304 a
touch -t 2002020304 a
touch -t x a
touch -r a b
touch -r nosuch b
touch -a -d 2020-02-02 a
touch -m -d 2020-02-02 a
touch --time=atime -d 2020-02-02 a
touch --time=x a
touch -h -d 2020-02-02 l
touch -d '2020-02-02 03:04:05.123456789 +0200' a
touch -d @86400 a
touch -d x a
touch -r a -d '+1 day' b
touch nosuch/x
touch d
touch broken
touch
touch ''
touch -d 2020-02-30 a
touch -d '2020-01-31 +1 month' a
touch -A 1 a
touch 2002020304 a
touch a/
touch -f a
chmod 644 a
chmod -v 600 a
chmod -c 600 a b
chmod u+x a
chmod +x a b d
chmod a-rwx a
chmod u=rw,g=r,o= a
chmod g=u a
chmod o=g,u+s a
chmod -R 700 d
chmod -Rv go-r d
chmod -R a+X d
chmod --reference=b a
chmod 1777 d
chmod 4755 a
chmod +t d
chmod -t d
chmod g+s d
chmod 755 d
chmod 00755 d
chmod =755 a
chmod u-s,g-s d
chmod -x a
chmod -w a
chmod -- -w a
chmod x a
chmod 999 a
chmod
chmod 644
chmod 644 nosuch
chmod -f 644 nosuch
chmod 644 broken
chmod 644 l
chmod -v u+w nosuch a
chmod 77777 a
chmod u+rwxX,go= d a
chmod a+rw,o-w,u+s a
chmod ug+o a
chmod u+ a
chmod = a
chmod -R u+w nosuch d
chown root a
chown 1:2 a
chown :3 a
chown 4 a
chown 5: a
chown -v 1 a
chown -c 1:1 a a
chown -R 1:1 d
chown -Rv 1 d
chown -h 1 l
chown 1 l
chown nosuch a
chown root:nosuch a
chown daemon:daemon a
chown --reference=a b
chown --from=1 2 a
chown --from=0:0 2 a
chown +1:+2 a
chown 1.2 a
chown 1 nosuch
chown -RL 1 ld
chown -RP 1 ld
chown -RH 1 ld
chown -R 1 ld
chown
chown 1
chgrp 1 a
chgrp -R 1 d
chgrp nosuch a
chgrp -v 1 a
truncate -s 10 a
truncate -s +10 a
truncate -s -2 a
truncate -s 0 a
truncate -s 1K new
truncate -s %3 a
truncate -s /3 a
truncate -s '<3' a
truncate -s '>30' a
truncate -c -s 5 new
truncate -r b a
truncate -r b -s +1 a
truncate a
truncate -s x a
truncate -s 5 d
truncate -o -s 1 a
unlink a
unlink d
unlink nosuch
unlink a b
link a new
link a b
link nosuch x
mkfifo new
mkfifo -m 600 new
mkfifo a
sync a
`, programtest.AnyOrder))
}

const wideTree = "mkdir -p d/sub/deep e/x .hid 'sp ace' node_modules/p/node_modules; echo hello > a.txt; echo hi > d/b.txt; touch d/sub/c.c d/sub/deep/D.C e/.dot .hid/f 'sp ace/f g' node_modules/p/i.js node_modules/p/node_modules/j.js; : > empty; head -c 1500 /dev/zero > big; head -c 300000 /dev/zero > d/huge; ln -s a.txt link; ln -s nowhere broken; ln -s d ld; ln a.txt hard; mkfifo pipe; chmod 4755 a.txt; chmod 600 big; chmod 777 e; touch -d '2020-01-02 03:04:05' a.txt; touch -d '10 days ago' d/b.txt; touch -d '3 days ago' d/sub/c.c; printf 'd\\0e\\0' > list0; printf 'line one\\nline two\\n' > lines; touch $'new\\nline' 'x*y' 'a[b]' \"q'q\" 'd\"q'"

func Test_Files_Are_Described_As_By_GNU(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, wideTree, rowsOfText("", `
stat a.txt -c '%n %s %b %B %o'
stat -c %a a.txt
stat -c '%A %U %G %u %g' a.txt big
stat -c %F a.txt d link pipe empty broken
stat -c '%h %t %T' a.txt
stat -c '%y|%Y' a.txt
stat -c '%x' nosuch
stat -c %Y,%.3Y,%10Y a.txt
stat --printf '%n\n%s\t%a\n' a.txt
stat --printf=%n a.txt big
stat -L -c '%F %s' link
stat -f -c %n .
stat -c '%04a|%10s|%-10s|%#a' a.txt
stat -c '%z%' a.txt -c %n
stat -c '%q' a.txt
stat -c %m a.txt
stat -c '%i' -c '%s' big
stat -t nosuch
stat
stat --bogus
stat -c %s -
stat -c '%f' a.txt d
stat -c 'abc\n' a.txt
stat --printf 'abc\x41\101\n\e[0m\z' a.txt
stat -c '%w %W' a.txt -c x
df --output=target nosuch
realpath a.txt
realpath link ld/b.txt
realpath -s link
realpath -e nosuch
realpath -m nosuch/x/../y
realpath nosuch
realpath nosuch/x
realpath --relative-to=d a.txt
realpath --relative-to=. d/sub
realpath --relative-base=d d/sub a.txt
realpath --relative-to=d/sub --relative-base=. e
realpath -z a.txt
realpath -q nosuch/x
realpath -L ld/..
realpath -P ld/..
realpath broken
realpath ''
realpath
readlink link
readlink a.txt
readlink -f link
readlink -f nosuch
readlink -f nosuch/x
readlink -e nosuch
readlink -m nosuch/x
readlink -n link
readlink -z link
readlink -v a.txt
readlink link broken
readlink -f ld/b.txt
readlink
readlink -nv link ld
basename a/b.c .c
basename -a a/b c/d
basename -s .c a/b.c d.c
basename /
basename ''
basename a b c
basename -z a/b
basename
dirname a/b/c
dirname a
dirname /
dirname /a
dirname a//b// c/d
dirname -z a/b
dirname ''
dirname
xargs <<< a b c\n
xargs -n1 echo <<< a b c\n
xargs -n2 <<< a b c\n
xargs -I{} echo x{}y <<< a\nb c\n
xargs -I X echo X X <<< a\nb\n
xargs -0 -n1 echo <<< a\0b c\0
xargs -d , echo <<< a,b,c
xargs -d '\n' -n1 echo <<< a b\nc\n
xargs -L1 echo <<< a b\nc\n
xargs -t echo <<< a b\n
xargs -r echo x <<< 
xargs echo x <<< 
xargs -a lines -n1 echo
xargs -P4 -n1 true <<< a b\n
xargs sh -c 'echo $# $0 $@' <<< a b c\n
xargs -I{} sh -c 'echo {}' <<< a\nb\n
xargs -n1 sh -c 'exit 3' <<< a b\n
xargs -n1 sh -c 'exit 255' <<< a b\n
xargs -s 20 echo <<< aaaa bbbb cccc dddd\n
xargs -E END echo <<< a END b\n
xargs --max-args=1 --verbose echo <<< a b\n
xargs -x -n 2 -s 12 echo <<< aaaaaaa bbbbbbbb\n
xargs -n1 -I{} echo {} <<< a b\n
xargs -i echo {} <<< a\n
xargs -l echo <<< a \nb\n
xargs basename -a <<< a/b c/d\n
xargs cat <<< a.txt\n
xargs ls -d <<< d e nosuch\n
env -i A=1 env
env -u HOME printenv HOME
env A=1 B=2 printenv A B
env -i printenv
env -C d ls
env -S 'A=1 printenv A'
env nosuch
env A=b nosuch
env -0 -i A=1 B=2
env --bogus
env - A=1 env
printenv HOME
printenv NOSUCH
printenv HOME NOSUCH
printenv -0 HOME
test -f a.txt -a -d d
test 1 -lt 2
[ a = a ]
[ -z '' -o -n a ]
[ ! -e nosuch ]
test a '<' b
test a -nt b
[ a.txt -nt big ]
[ big -nt a.txt ]
[ -x a.txt ]
[ -s empty ]
[ -L link ]
[ -p pipe ]
[ 5 -gt 3 -a 3 -gt 1 ]
[ abc ] x
[ abc
test -v HOME
test -R x
test a == a
test 0x10 -eq 16
test 010 -eq 10
`, programtest.AnyTree))
}

func Test_Trees_Are_Searched_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, wideTree, rowsOfText("", `
find . -name *.c -o -name *.txt
find . -type f -name *.c -print -o -type d -name e -print
find . -not -name *.c -type f
find . ( -name *.c -o -name *.C ) -a -type f
find . -iname *.C -printf '%f %s\n'
find . -path ./node_modules -prune -o -type f -print
find . -name node_modules -prune -o -name *.js -print
find . -type d -name node_modules -prune -print
find . -type d ( -name node_modules -o -name .hid ) -prune -o -type f -print
find . -path '*/sub/*'
find . -wholename '*/sub/*'
find . -ipath '*/SUB/*'
find . -not -path '*/node_modules/*' -name *.js
find . ! -path './.*'
find . -regex '.*\.c'
find . -iregex '.*\.[ch]'
find . -regextype posix-extended -regex '.*/(a|b)\.txt'
find . -regextype egrep -regex '.*\.(c|txt)$'
find . -regextype posix-basic -regex '.*\.\(c\|txt\)'
find . -regextype sed -regex '.*/[a-z]\{1,3\}\.txt'
find . -regextype emacs -regex '.*/\(a\|b\)\.txt'
find . -regextype grep -regex '.*\.c'
find . -regextype awk -regex '.*\.(c|txt)'
find . -regextype posix-awk -regex '.*\.(c|txt)'
find . -regextype posix-egrep -regex '.*\.(c|txt)'
find . -regextype posix-minimal-basic -regex '.*\.c'
find . -regextype foo -regex x
find . -E -regex x
find . -maxdepth 1
find . -mindepth 1 -maxdepth 1
find . -mindepth 2 -maxdepth 2 -type f
find . -maxdepth 0
find . -type f -maxdepth 1
find . -size 0
find . -size +1k
find . -size -2k -type f
find . -size 1500c
find . -size +100k
find . -size +0 -size -3
find . -size 1b
find . -size +1M
find . -size 1x
find . -empty
find . -empty -type d
find . -empty -type f
find . -perm 644
find . -perm -u+x -type f
find . -perm /u+s
find . -perm -4000
find . -perm /111 -type f
find . -perm u=rw,g=,o=
find . -perm -o=w
find . -perm +x
find . -perm 888
find . -mtime +5
find . -mtime -5 -type f
find . -mtime 3
find . -mmin -60 -type f
find . -newer a.txt -type f
find . -newermt 2020-01-01 -type f
find . -newermt '5 days ago' -type f
find . ! -newermt 2021-01-01
find . -newerXt x
find . -newer nosuch
find . -anewer a.txt -name zzz
find . -daystart -mtime 0 -name big
find . -type l
find . -type l -xtype f
find . -xtype l
find . -type f,l
find . -type p
find . -type x
find . -type
find . -lname 'a*'
find . -ilname 'A*'
find -L . -type l
find -L . -type f -name b.txt
find -P . -type l
find -H ld -name b.txt
find ld
find ld/
find -L ld -maxdepth 1
find . -samefile a.txt
find . -links 2
find . -links +1 -type f
find . -inum 0
find . -user root -name big
find . -group root -name big
find . -user nosuch
find . -uid 0 -name big
find . -gid +5
find . -nouser
find . -nogroup
find . -readable -name big
find . -writable -name big
find . -executable -type f
find . -true -name big
find . -false
find . -name big -exec echo {} ;
find . -name big -exec echo a{}b {} ;
find . -name *.c -exec echo {} +
find . -name big -exec echo {} x +
find . -name big -exec echo + ;
find . -name big -exec false ; -print
find . -name big -exec true ; -print
find . -name big -execdir echo {} ;
find . -name c.c -execdir echo {} +
find . -name big -exec
find . -name big -exec echo
find . -name big -exec echo {}
find . -name big -exec nosuch {} ;
find . -name big -exec sh -c 'echo "$1"' _ {} ;
find . -type f -name *.c -exec sh -c 'for f; do echo "$f"; done' _ {} +
find . -name big -ok echo {} ; <<< y\n
find . -name big -printf '%p %f %h %P %s %m %M %y %u %g %d %n\n'
find . -name link -printf '%p -> %l %y %Y\n'
find . -name broken -printf '%p %l %Y\n'
find . -name a.txt -printf '%Tc|%TD|%TF|%TT|%T+|%Tj|%Ta|%Tb\n'
find . -name a.txt -printf '%k %b %s\n'
find . -name a.txt -printf '%-10f|%10s|%05m|\n'
find . -name a.txt -printf '%%\t\101\\\n'
find . -name a.txt -printf '%z\n'
find . -name a.txt -printf %f\0
find . -name a.txt -printf '\x'
find . -name a.txt -print0
find . -name 'new*'
find . -name 'new*' -print0
find . -name 'x\*y'
find . -name 'a\[b\]'
find . -name '[ab]*' -maxdepth 1
find . -name '[!a]*' -maxdepth 1
find . -name '?'
find . -name a/b
find . -name ''
find -files0-from list0 -name *.c
find -files0-from nosuch
find . -files0-from list0
find -files0-from - -type d <<< d\0e\0
find nosuch
find nosuch . -maxdepth 0
find a.txt
find a.txt big -size +1
find d e -type d
find -name big
find -type f -name big
find
find . -quit
find . -name big -quit
find . -print -quit
find . -depth -name 'd*'
find . -delete -name nosuchfile -maxdepth 0
find . -bogus
find . -name
find . (
find . )
find . ( )
find . -name big )
find . ( -name big
find . -o -name big
find . -name big -o
find . -a
find . !
find . -name big -and -type f
find . -name big -or -name empty
find . -name big , -name empty
find . -name big -a -not -type d
find . -maxdepth x
find . -maxdepth -1
find . -mtime x
find . -noleaf -name big
find . -xdev -name big
find . -mount -name big
find . -ignore_readdir_race -name big
find . -warn -name big
find . -follow -name b.txt
find -O3 . -name big
find . -fstype foo
find . -context x
find . -amin -100 -name big
find . -cmin -100 -name big
find / -maxdepth 0
find // -maxdepth 0
find ./ -maxdepth 1 -name big
find .// -maxdepth 1 -name big
find d/ -maxdepth 1
find d/. -maxdepth 1
find .. -maxdepth 0
find . -name '*.txt' -printf '%h/%f\n'
find . -type f -printf '%s %p\n' -name zzz
find . -type f -printf '%T@ %p\n' -false
find . -name '*.c' -fprintf /dev/stdout '%p\n'
du
du -s
du -sh
du -h
du -c d e
du -sc d e
du -b a.txt
du -sb d
du --apparent-size -s d
du --apparent-size -ah d
du -d 1
du -d1 -h
du --max-depth=1
du --max-depth=0
du -d x
du -k d
du -m d
du -BK d
du -B1 d
du --block-size=1M d
du -x d
du -L ld
du -D ld
du ld
du -l a.txt hard
du a.txt hard
du -S
du -0 d
du --exclude=*.c d
du --exclude=sub -a d
du -t 100K d
du -t -100K d
du --time d/b.txt
du --time --time-style=+%Y a.txt
du -sh d e a.txt
du -shc d e
du -hs nosuch d
du --files0-from=list0
du --inodes d
du -si d
du --si d
du -a --max-depth=1 d
du -s --max-depth=1 d
du -sa d
du --bogus
du d/huge big empty
du -bh d/huge
`, programtest.AnyOrder|programtest.AnyTree))
}
