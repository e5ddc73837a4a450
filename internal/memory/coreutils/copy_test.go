package coreutils

import "testing"

const copyTree = `echo one > a; echo two > b; echo old > c; touch -d 2001-01-01 c; mkdir -p d/sub/deep e f/d; echo x > d/x; echo y > d/sub/y; ln -s ../a d/link; ln -s x d/rel; ln a ha; ln d/x d/hx
ln -s a la; ln -s nowhere broken; ln -s d ld; ln -s loop loop; mkfifo d/pipe; echo fx > f/x; echo fa > f/a; mkdir -m 700 secret; echo s > secret/s; chmod 640 secret/s; chmod 4755 b; chmod 555 f/a; touch -d 2002-02-02 d/x; touch -d 2003-03-03 d d/sub; echo '~' > a~; echo n1 > n.~1~; echo n > n; head -c 20000 /dev/zero > zeros; chown 1:2 secret/s; touch empty; mkdir -m 1777 sticky; mkdir -m 2755 setgid; mkdir g; echo 'with space' > 'g/w s'`

func Test_Cp_Copies_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := rowsOf(
		copyTree, "cp a new", "cp a b", "cp a d", "cp a d/", "cp a e/n", "cp a nosuch/", "cp a nosuch/x", "cp nosuch x", "cp nosuch a d", "cp a b e", "cp a b nosuch", "cp a b c", "cp a", "cp", "cp -T a d", "cp -T a b c", "cp -T d e -r", "cp -T a", "cp -t e a b", "cp -t nosuch a", "cp -t a b", "cp -t e -t d a", "cp -t e -T a",
		"cp d e", "cp -r d e", "cp -r d new", "cp -R d/ new", "cp -r d/. new", "cp -r d/. e", "cp -r d a", "cp a e d -r", "cp -a d new", "cp -a d e", "cp -d la new", "cp -P la new", "cp -L la new", "cp la new", "cp -H la new", "cp -rL e new", "cp -r la new", "cp -rH ld new", "cp -r ld new", "cp -r ld/ new", "cp -P broken new", "cp broken new", "cp -r broken new", "cp a broken", "cp -f a broken", "cp --remove-destination a broken", "cp loop x", "cp -P loop x", "cp a loop",
		"cp -p c new", "cp -p secret/s new", "cp --preserve=timestamps c new", "cp --preserve=mode secret/s new", "cp --preserve=ownership secret/s new", "cp --preserve=links a ha e", "cp -d a ha e", "cp a ha e", "cp -a a ha e", "cp -r --preserve=links d new", "cp --preserve=all c new", "cp --preserve=foo a new", "cp --preserve=context a new", "cp --no-preserve=mode b new", "cp -p --no-preserve=mode,timestamps c new", "cp --no-preserve=foo a b", "cp -rp secret new", "cp -r secret new", "cp -a secret new", "cp -r --no-preserve=mode secret new", "cp b new", "cp -p b new", "cp -r sticky setgid e", "cp -a sticky setgid e",
		"cp -u c a", "cp -u a c", "cp -u a new", "cp -n a b", "cp -nv a b", "cp -nv a new", "cp -v a new", "cp -v a b e", "cp -vf a b", "cp -b a b", "cp -bv a b", "cp --backup=numbered a n", "cp --backup=simple a n", "cp --backup a n", "cp --backup=none a n", "cp --backup=t a b", "cp -S .bak a b", "cp --suffix=.o -b a b", "cp -b a a", "cp -bf a a", "cp --backup=numbered a a", "cp -b a~ a", "cp --backup=foo a b", "cp -b -n a b",
		"cp a a", "cp a ./a", "cp a ha", "cp -f a ha", "cp --remove-destination a ha", "cp a la", "cp la a", "cp -P la a", "cp -d la la", "cp -f a a", "cp a a e", "cp a ./a e", "cp a ha a e", "cp d d e -r", "cp -r e e/x", "cp -r d/sub d", "cp f/x d/x e", "cp -r f d e", "cp f/a a e", "cp -t e f/a a f/x d/x",
		"cp -l a new", "cp -l a b", "cp -lf a b", "cp -l a ha", "cp -rl d new", "cp -l la new", "cp -lP la new", "cp -s a new", "cp -s a b", "cp -sf a b", "cp -s a e", "cp -s ../a e/x", "cp -ls a new", "cp -l d new", "cp -lr nosuch new", "cp -s a ./x", "cp -l broken new",
		"cp --parents d/sub/y e", "cp --parents -v d/sub/y e", "cp -r --parents d/sub e", "cp --parents a new", "cp --parents nosuch/x e", "cp -p --parents secret/s e", "cp --parents secret/s e", "cp --parents d/sub/y d/x e", "cp --parents d/sub/y a", "cp --parents d/sub/../x e",
		"cp --attributes-only a new", "cp --attributes-only -p c a", "cp --sparse=always zeros new", "cp --sparse=never zeros new", "cp --sparse=foo a b", "cp --reflink=auto a new", "cp --reflink=never a new", "cp --reflink=foo a new", "cp --reflink=always --sparse=always a new", "cp --strip-trailing-slashes la/ new", "cp la/ new", "cp a/ new", "cp -x a new", "cp -Z a new", "cp --context=x a new", "cp --copy-contents a new", "cp --bogus a b", "cp -q", "cp --rec d new", "cp --re d new", "cp -rT d e", "cp -rT d f", "cp -rT d ld", "cp -r f/d d", "cp -ru d f", "cp -rn f d", "cp -rv f/d e", "cp d/pipe -r new", "cp -a d/pipe new", "cp -R d/pipe b", "cp -a ld new", "cp -a la broken ld e", "cp -r e d", "cp -rf f/. d", "cp -r f/x f/a d/sub", "cp empty new", "cp -p empty c", "cp f/a e", "cp f/a f/x", "cp a f/a", "cp -f a f/a", "cp '' x", "cp a ''", "cp -r '' x", "cp a b/", "cp a d/sub/.", "cp a .", "cp d/x .", "cp -r d .", "cp -r g new", "cp -v 'g/w s' e", "cp ../w/a new", "cp -dr d e", "cp -i a new",
		"cp --force a b", "cp --no-clobber a new", "cp --no-dereference la n2", "cp --archive --verbose g e", "cp -- -x y", "cp --verbose --recursive --no-target-directory g new", "cp --link --force a b", "cp --symbolic-link --backup a b", "cp --update=x a b", "cp -Rp d new --no-preserve=all",
	)
	rows = append(rows,
		row{setup: copyTree, line: "cp -i a b", stdin: "y\n"}, row{setup: copyTree, line: "cp -i a b", stdin: "n\n"}, row{setup: copyTree, line: "cp -i a b", stdin: ""}, row{setup: copyTree, line: "cp -i a b e f", stdin: "yes\nno\n"}, row{setup: copyTree, line: "cp -iv a b f/x d", stdin: "yes\n"}, row{setup: copyTree, line: "cp -in a b"}, row{setup: copyTree, line: "cp -ni a b", stdin: "y\n"}, row{setup: copyTree, line: "cp -if a f/a", stdin: "y\n"}, row{setup: copyTree, line: "cp -ri f d", stdin: "y\n"},
		row{setup: copyTree, line: "cp -b a n", env: []string{"VERSION_CONTROL=numbered"}}, row{setup: copyTree, line: "cp a broken", env: []string{"POSIXLY_CORRECT=1"}}, row{setup: copyTree, line: "cp -b a b", env: []string{"SIMPLE_BACKUP_SUFFIX=.orig"}},
		row{setup: copyTree, line: "cp -rv d new", loose: anyOrder}, row{setup: copyTree, line: "cp -av d e", loose: anyOrder}, row{setup: copyTree, line: "cp -rvb f d", loose: anyOrder},
		row{setup: copyTree, line: "cp -r d d", loose: anyTree}, row{setup: copyTree, line: "cp -r d d/sub", loose: anyTree}, row{setup: copyTree, line: "cp -r d d/new", loose: anyTree}, row{setup: copyTree, line: "cp -r . e", loose: anyTree}, row{setup: copyTree, line: "cp -r d/.. e", loose: anyTree},
		row{setup: copyTree, line: "cp -rv e f e", loose: anyOrder}, row{setup: copyTree, line: "cp -rs d new", loose: anyOrder},
		row{setup: copyTree, line: "cp /dev/null b"}, row{setup: copyTree, line: "cp /dev/null new"},
	)
	runRows(t, rows)
}

func Test_Mv_Moves_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := rowsOf(
		copyTree, "mv a new", "mv a b", "mv a e", "mv a b e", "mv d e", "mv d new", "mv d f", "mv d/ new", "mv a d/x", "mv d a", "mv a nosuch/", "mv a nosuch/x", "mv nosuch x", "mv nosuch a e", "mv a b nosuch", "mv a b c", "mv", "mv a", "mv -T a e", "mv -T d e", "mv -T e f", "mv -T e d", "mv -T a b c", "mv -t e a b", "mv -t nosuch a", "mv -t a b", "mv -t e -T a",
		"mv -v a new", "mv -v a b e", "mv -vb a b", "mv -b a b", "mv -b d/x f/x", "mv --backup=numbered a n", "mv --backup=simple a n", "mv --backup a n", "mv -b a~ a", "mv -S .o a b", "mv -b d f", "mv -bT d e", "mv -bT d a", "mv -bT a d", "mv -n a b", "mv -nv a b", "mv -n a new", "mv -u c a", "mv -u a c", "mv -uv a c", "mv -uv c a", "mv -bn a b", "mv --backup=foo a b",
		"mv a a", "mv a ./a", "mv a ha", "mv -v a ha", "mv a la", "mv la a", "mv d d", "mv d d/new", "mv d d/sub", "mv . e", "mv .. e", "mv e/. f", "mv e e/x", "mv d/.. e", "mv a a e", "mv f/x d/x e", "mv f/a a e", "mv f/d e", "mv f/d .", "mv d f/", "mv la new", "mv ld new", "mv ld/ new", "mv broken new", "mv --strip-trailing-slashes ld/ e", "mv a/ new", "mv a b/", "mv d/pipe new", "mv a '' ", "mv '' a", "mv -f a f/a", "mv a f/a", "mv --bogus a b", "mv -Z a new", "mv -- -a b", "mv a ld", "mv -T a ld", "mv 'g/w s' new", "mv e ld", "mv a broken", "mv -fv f/x f/a d", "mv d/sub .", "mv d/sub d", "mv -v d/sub/y d/sub/deep", "mv d e f", "mv f/d f", "mv sticky setgid e", "mv -i a new", "mv / x", "mv a /nosuch/dir/x", "mv -f a b", "mv --no-clobber --verbose a b c e",
	)
	rows = append(rows,
		row{setup: copyTree, line: "mv -i a b", stdin: "y\n"}, row{setup: copyTree, line: "mv -i a b", stdin: "n\n"}, row{setup: copyTree, line: "mv -i a b f d", stdin: "y\nn\n"}, row{setup: copyTree, line: "mv -if a b"}, row{setup: copyTree, line: "mv -fi a b", stdin: "y\n"}, row{setup: copyTree, line: "mv -iv f/x f/a d", stdin: "y\n"}, row{setup: copyTree, line: "mv -i a ha", stdin: "n\n"}, row{setup: copyTree, line: "mv -i f/a b", stdin: "y\n"},
	)
	runRows(t, rows)
}

func Test_Rm_Removes_As_GNU_Does(t *testing.T) {
	t.Parallel()
	rows := rowsOf(
		copyTree, "rm a", "rm a b", "rm nosuch", "rm -f nosuch", "rm -f nosuch a", "rm nosuch a", "rm d", "rm -f d", "rm -r d", "rm -rf d", "rm -R e", "rm -d e", "rm -d d", "rm -dv e", "rm -v a b", "rm -rv e", "rm", "rm -f", "rm -r", "rm .", "rm -r .", "rm -r ..", "rm -rf . ..", "rm -r d/.", "rm -r d/..", "rm -r ./", "rm la", "rm ld", "rm -r ld", "rm ld/", "rm -r ld/", "rm -rf ld/", "rm broken", "rm a/", "rm -f a/", "rm a/x", "rm -f a/x", "rm d/pipe", "rm -rf d nosuch e", "rm --recursive --force d", "rm --bogus a", "rm -y", "rm --dir e", "rm --interactive=never a", "rm --interactive=foo a", "rm --interactive=no a", "rm --preserve-root a", "rm --preserve-root=all a", "rm --preserve-root=foo a", "rm --no-preserve a", "rm --one-file-system -r d", "rm -- -a", "rm ''", "rm -f ''", "rm -r ''", "rm a a", "rm ha", "rm -r d e f secret", "rm -f a d b", "rm -v 'g/w s'", "rm -I a b", "rm -rf d/sub d/x", "rm -r /", "rm -rf /", "rm -rf //", "rm f/a", "rm -rf '*'", "rm d e", "rm -vd e d",
	)
	rows = append(rows,
		row{setup: copyTree, line: "rm -i a", stdin: "y\n"}, row{setup: copyTree, line: "rm -i a", stdin: "n\n"}, row{setup: copyTree, line: "rm -i a empty la d/pipe", stdin: "y\ny\ny\ny\n"}, row{setup: copyTree, line: "rm -ri e", stdin: "y\n"}, row{setup: copyTree, line: "rm -ri g", stdin: "y\ny\ny\n"}, row{setup: copyTree, line: "rm -ri g", stdin: "y\nn\ny\n"}, row{setup: copyTree, line: "rm -ri g", stdin: "n\n"}, row{setup: copyTree, line: "rm -rI g", stdin: "y\n"}, row{setup: copyTree, line: "rm -rI g e", stdin: "n\n"}, row{setup: copyTree, line: "rm -I a b c n", stdin: "y\n"}, row{setup: copyTree, line: "rm -I a b c n", stdin: "n\n"}, row{setup: copyTree, line: "rm -fi a", stdin: "n\n"}, row{setup: copyTree, line: "rm -if a"}, row{setup: copyTree, line: "rm --interactive a", stdin: "y\n"}, row{setup: copyTree, line: "rm --interactive=once -r g", stdin: "y\n"}, row{setup: copyTree, line: "rm -di e", stdin: "y\n"}, row{setup: copyTree, line: "rm -di d", stdin: "y\n"}, row{setup: copyTree, line: "rm -ir secret nosuch", stdin: "y\ny\ny\n"},
		row{setup: copyTree, line: "rm -rv d", loose: anyOrder}, row{setup: copyTree, line: "rm -rfv f g secret", loose: anyOrder},
	)
	runRows(t, rows)
}
