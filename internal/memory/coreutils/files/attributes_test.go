package files_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Touch_Sets_Times_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		programtest.AttributesTree, "touch a", "touch new", "touch new new2", "touch -c new", "touch d", "touch d/", "touch nosuch/x", "touch -c nosuch/x", "touch a/x", "touch broken", "touch -h broken", "touch -h la", "touch la", "touch -d 2001-01-01 a", "touch -d '2001-01-01 10:00:00.25' a new", "touch -d @0 new", "touch -d 'next foo' a", "touch -t 200102030405 a", "touch -t 0102030405 a", "touch -t 02030405 a -d x", "touch -t 200102030405.06 a", "touch -t 20010203040 a", "touch -t x a", "touch -t 200113010000 a", "touch -r a b", "touch -r nosuch b", "touch -r a -d '+1 day' b", "touch -r a -d '1 hour ago' b", "touch -r la b", "touch -hr la b", "touch -a -d 2001-01-01 a", "touch -m -d 2001-01-01 a", "touch --time=mtime -d 2001-01-01 a", "touch --time=access -d 2001-01-01 a", "touch --time=foo a", "touch", "touch -d 2001-01-01", "touch --bogus a", "touch ''", "touch -f a", "touch p", "touch -d 2001-01-01 p d la", "touch -h -d 2001-01-01 la broken", "touch -ch nosuch", "touch -h nosuch", "touch -cd 2001-01-01 nosuch a", "touch --no-create nosuch", "touch --date=2001-01-01 --no-dereference la", "touch -t 200102030405 -r a b", "touch -- -x", "touch new/", "touch 'a b'", "touch --reference=a d/new", "touch -am -d 2002-02-02 a", "touch -d 2001-01-01T01:02:03Z a", "touch -d 'Jan 1 2001' a",
	)
	rows = append(rows, programtest.Row{Setup: programtest.AttributesTree, Line: "touch -d '2001-01-01 12:00' a", Env: []string{"TZ=America/New_York"}}, programtest.Row{Setup: programtest.AttributesTree, Line: "touch -t 200107010000 a", Env: []string{"TZ=Europe/Berlin"}})
	programtest.RunRows(t, rows)
}

func Test_Chmod_Changes_Modes_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		programtest.AttributesTree, "chmod 600 a", "chmod 0755 a b", "chmod 4755 a", "chmod 7777 a", "chmod 10000 a", "chmod 8 a", "chmod u+x a", "chmod +x a", "chmod a+x a", "chmod go-r a", "chmod ugo=rw a", "chmod u=rwx,g=rx,o= a", "chmod u=g a", "chmod g=u a", "chmod o=u,u= a", "chmod g+u-r a", "chmod +w a", "chmod =r a", "chmod = a", "chmod u= a", "chmod u+s a", "chmod g+s a", "chmod +s a", "chmod +t a", "chmod o+t a", "chmod a+st a", "chmod u-s sx", "chmod -s sx", "chmod 755 sx", "chmod 0755 sg", "chmod 00755 sg", "chmod 755 sg", "chmod g-s sg", "chmod a-s sg", "chmod =rx sg", "chmod ug=rx sg", "chmod 777 st", "chmod -t st", "chmod o-t st", "chmod +X a", "chmod +X sx", "chmod +X d", "chmod a=rX d a sx", "chmod u+x,+X a", "chmod -w a", "chmod -rwx a", "chmod -r a -x sx", "chmod -w,+x a", "chmod u+rwx-w a", "chmod u+r+w-x a", "chmod a+,u-w a", "chmod u a", "chmod u+ a", "chmod u+q a", "chmod ,u+x a", "chmod u+x, a", "chmod '' a", "chmod a+7 a", "chmod +7 a", "chmod -7 a", "chmod =644 a", "chmod u=rg a", "chmod ug+ o a", "chmod u+rwxXst a",
		"chmod -R 700 d", "chmod -R u=rwX,go= d", "chmod -R a-x d", "chmod -R +x d/sub", "chmod 600 la", "chmod 600 broken", "chmod 600 nosuch", "chmod -f 600 nosuch a", "chmod -R 700 ld", "chmod -R 700 la", "chmod -v 600 a b", "chmod -v 644 a", "chmod -c 644 a b", "chmod -c 600 a b", "chmod -v 600 nosuch", "chmod -v 600 broken", "chmod -vR 700 d/sub", "chmod --reference=sx a", "chmod --reference=nosuch a", "chmod --reference=sg d", "chmod --reference=a 600 b", "chmod", "chmod 600", "chmod u+x", "chmod -w", "chmod --bogus 600 a", "chmod -q a", "chmod 600 -- a", "chmod -- 600 a", "chmod -- -w a", "chmod a -w b", "chmod --recursive --verbose 755 d/sub", "chmod --quiet 600 nosuch", "chmod --silent 600 nosuch", "chmod --changes 600 a", "chmod -R --preserve-root 755 /", "chmod 600 p", "chmod 600 a nosuch b", "chmod u+x-w+s a", "chmod 644 ''", "chmod 0 a", "chmod 00000 sg", "chmod -v u+s,g+s,o+t a", "chmod 01777 d", "chmod g=s a", "chmod o=s a", "chmod u=t a", "chmod ugoa=rwx a", "chmod aaa+x a",
	)
	for i := range rows {
		rows[i].Loose |= programtest.AnyOrder
	}
	programtest.RunRows(t, rows)
}

func Test_Chown_Changes_Owners_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := programtest.RowsOf(
		programtest.AttributesTree, "chown 1 a", "chown daemon a", "chown daemon:daemon a", "chown daemon: a", "chown :daemon a", "chown : a", "chown '' a", "chown 12345:6789 a", "chown 12345: a", "chown nosuch a", "chown :nosuch a", "chown daemon:nosuch a", "chown root.daemon a", "chown root.nosuch a", "chown +1 a", "chown 4294967295 a", "chown -1 a", "chown 1 la", "chown -h 1 la", "chown 1 broken", "chown -h 1 broken", "chown 1 nosuch", "chown -f 1 nosuch", "chown -R 1:1 d", "chown -R 1 ld", "chown -RH 1 ld", "chown -RL 1 ld", "chown -RL 1 d", "chown -RP 1 d", "chown -Rh 1 d", "chown -R --dereference 1 d", "chown -v 1 a b", "chown -v 1:2 a b", "chown -v :1 a b", "chown -v : a", "chown -c 1 a b", "chown -c :1 a b", "chown -v 1 nosuch", "chown -v nosuch a", "chown -vR 3:4 d", "chown --from=0 1 a b", "chown --from=1:1 2:2 a b", "chown --from=:1 2 a b", "chown --from=nosuch 2 a", "chown -v --from=0 2 a b", "chown --reference=b a", "chown --reference=nosuch a", "chown -v --reference=b a", "chown", "chown 1", "chown --reference=a", "chown --bogus 1 a", "chown 1 sx", "chown 1:1 sx sg", "chown root:root b", "chown -R --preserve-root 0 /", "chown daemon:daemon a b d -R", "chown bin:sys -v a",
		"chgrp 1 a", "chgrp daemon a", "chgrp nosuch a", "chgrp -v daemon a b", "chgrp -c daemon a b", "chgrp -R 1 d", "chgrp -h 1 la", "chgrp 1 la", "chgrp 1 nosuch", "chgrp -v 1 nosuch", "chgrp --reference=b a", "chgrp", "chgrp 1", "chgrp '' a", "chgrp --from=1 2 a", "chgrp -v 1 d -R", "chgrp --bogus", "chgrp -f 1 nosuch", "chgrp 1:2 a",
	)
	for i := range rows {
		rows[i].Loose |= programtest.AnyOrder
	}
	programtest.RunRows(t, rows)
}
