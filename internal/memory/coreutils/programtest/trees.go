package programtest

// AttributesTree is a script that creates files with various modes, owners and times.
const AttributesTree = `touch -d '2020-01-02 03:04:05.5' a; touch b; mkdir -p d/sub; touch d/f d/sub/g; chmod 644 a b; chmod 755 d; ln -s a la; ln -s nowhere broken; ln -s ../a d/link; ln -s d ld; mkfifo p; chmod 600 p; touch sx; chmod 6755 sx; mkdir sg; chmod 2775 sg; mkdir st; chmod 1777 st; chown 1:1 b; chown -h 2:2 la; chown 3:4 d/f; touch -h -d 2001-02-03 la broken`

// CopyTree is a script that creates files, directories and links to copy, move and remove.
const CopyTree = `echo one > a; echo two > b; echo old > c; touch -d 2001-01-01 c; mkdir -p d/sub/deep e f/d; echo x > d/x; echo y > d/sub/y; ln -s ../a d/link; ln -s x d/rel; ln a ha; ln d/x d/hx
ln -s a la; ln -s nowhere broken; ln -s d ld; ln -s loop loop; mkfifo d/pipe; echo fx > f/x; echo fa > f/a; mkdir -m 700 secret; echo s > secret/s; chmod 640 secret/s; chmod 4755 b; chmod 555 f/a; touch -d 2002-02-02 d/x; touch -d 2003-03-03 d d/sub; echo '~' > a~; echo n1 > n.~1~; echo n > n; head -c 20000 /dev/zero > zeros; chown 1:2 secret/s; touch empty; mkdir -m 1777 sticky; mkdir -m 2755 setgid; mkdir g; echo 'with space' > 'g/w s'`

// FillTree is a script that adds paragraphs for fmt and pr to LinesTree.
const FillTree = LinesTree + `
printf 'Dr. Smith went home.  He slept (badly).  "Why?" she asked;\nhe said: nothing.  A\nB. C\nword, word, word [open] (paren) end!\n\n\n   indented first\nsecond line of it is here and it is long enough to break surely\nthird\n' > talk
printf '# one comment line that is long enough\n# to be filled, and more of it\n#\n# next\nplain text\n  # deeper comment\n  # goes on here\n#no blank\n#' > hashes
printf '> quoted text here is\n> more of it\n>> deeper text\n> \n  > moved\n' > mail
printf '\ttabbed line one two three four\n\ttabbed two\n        spaces now\n  \t mixed\tinner  \ttext.  More\n' > tabbed
printf '    first\nrest of the paragraph has no indentation at all here\nand so on\n\none line only\n\n  * bullet one two three\n    goes on and on\n    and on\n  * next\n' > tagged
seq -s ' ' 1 3000 > numbers
yes 'The quick brown fox, jumps over it. Then' | head -400 > foxes
printf ' a\fb\vc\rd e\0 f\0.\ng  \n   \n\t\nh.\n\303\251\303\251 \377x\n' > odd`

// LinesTree is a script that adds files for join, tsort, column and others to TextTree.
const LinesTree = TextTree + `
printf 'a 1\nb 2\nc 3\n' > j1
printf 'a x\nc y\nd z\n' > j2
printf 'a:1:p\nb:2:q\nb:3:r\n' > k1
printf 'b:X\nb:Y\nc:Z\n' > k2
printf 'ID N\na 1\nb 2\n' > h1
printf 'ID V\nb q\nc r\n' > h2
printf 'c 1\na 2\n' > uns
printf '  lead  two\n\t\ttabs\tx\n        eight\n a       b\tc  \n' > blanks
printf 'The quick brown fox jumps over the lazy dog and runs away.  Then it\nsleeps.\n\n  indented paragraph that is\n  two lines long\n* bullet\n' > prose
printf 'head\n\\:\\:\\:\nhdr\n\\:\\:\nbody 1\n\nbody 2\n\\:\nfoot\n\\:\\:\\:\nhdr2\n\\:\\:\nb3\n' > pages
printf 'a b\nb c\nc d\na d\n' > graph
printf 'a b\nb a\nc d\nd e\ne c\n' > loops
printf 'x--y--z--' > seps
printf 'apple\nApply\nbanana\nband\nbandana\ncan\n' > words
printf 'one,two,three\n1,,3\nlong cell,x,y\n' > csv
printf 'k v\nlonger value here\nx\n' > table`

// RgTree is a script that creates a tree of sources with ignore files.
const RgTree = `mkdir -p src/deep .hid node_modules/x build .git src/.cache
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

// TextTree is a script that creates small files of text.
const TextTree = `printf 'one two three\nfour  five\tsix\n\nseven\n' > a
printf 'x' > noend
: > empty
seq 1 25 > seq25
seq 1 3000 > seq
printf 'a:b:c\nd:e\nnone\n:x:\n\n' > fields
printf 'a\tb\tc\nno tab\n1\t2\n' > tabs
printf 'a\0b\0b\0c' > nul
printf 'a\na\nb\nc\nc\nc\nd\n' > dups
printf 'A x\na y\n b x\nb\tx\nB z\n' > keys
printf 'caf\303\251 na\303\257ve\nb\377d\n\346\227\245\346\234\254\n' > utf8
printf '\001\002 a\377b \r\n' > bin
head -c 200000 /dev/zero | tr '\0' 'y' > long
printf 'names\0' > names0
printf 'a\0seq25\0' > files0
mkdir d`
