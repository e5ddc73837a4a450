package tar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

const tarSetup = `mkdir -p d/e/f; echo hello >d/a; printf 'more text\n' >d/e/b; : >d/e/f/empty; ln -s a d/l; ln d/a d/z; mkfifo d/p; printf x >'d/n
l'; seq 5000 >d/big; chmod 600 d/e/b; chmod 1777 d/e/f; chmod u+s d/big; mkdir empty; seq 10 >top; ln -s /etc/passwd out; ln -s ../up up
n=$(printf 'x%.0s' {1..120}); mkdir d/$n; echo long >d/$n/$n; ln -s $n$n d/longlink
chown 1:2 d/e/b; find . -exec touch -h -d '2024-02-03 04:05:06' {} +
`

// tarArchives makes archives to read.
const tarArchives = tarSetup + `tar --sort=name -cf t.tar d; tar --sort=name -czf t.tgz d; tar --sort=name -cjf t.tbz d; tar --sort=name -cJf t.txz d; tar --sort=name --zstd -cf t.tzst d; tar --lzma -cf t.tlz d/e
for f in v7 oldgnu ustar pax; do tar --format=$f --sort=name -cf $f.tar d/a d/z d/e d/l d/big top; done; tar --format=pax --sort=name -cf paxlong.tar d
head -c 700 t.tar >cut700.tar; head -c 3000 t.tar >cut3000.tar; echo junk >junk.tar; head -c 2000 /dev/zero | tr '\0' x >junk2.tar; : >empty.tar; head -c 10240 /dev/zero >zero.tar; tar -cf none.tar -T /dev/null
(head -c 512 junk2.tar; cat t.tar) >front.tar; head -c 5000 t.tgz >cut.tgz; (cat t.tgz; echo junk) >tail.tgz; (head -c 1024 t.tar; head -c 512 junk2.tar; tail -c +1025 t.tar) >middle.tar
truncate -s 3M sparse; echo mid | dd of=sparse bs=1 seek=1000000 conv=notrunc 2>/dev/null; echo end >>sparse; touch -d '2024-02-03 04:05:06' sparse; for f in gnu oldgnu pax; do tar --format=$f -Scf sp-$f.tar sparse; done; tar --format=pax --sparse-version=0.0 -Scf sp-0.0.tar sparse; tar --format=pax --sparse-version=0.1 -Scf sp-0.1.tar sparse
tar -Pcf abs.tar /etc/hostname out up d/e/b; (cd d; tar -Pcf ../dots.tar ../top ../d/e/../a); tar -cf label.tar -V 'my label' top; tar -cf one.tar top; (head -c 1536 one.tar) >lone.tar; tar -cf dup.tar top top d/a top
tar -cf dot.tar -C d ./a ./e; (cat one.tar; cat t.tar) >two.tar; chmod 644 top; touch -d '2024-02-03 04:05:06' *.t*
`

func Test_Tar_Lists_As_GNU_Does(t *testing.T) {
	t.Parallel()
	programtest.RunReadOnly(t, tarArchives, programtest.TarRows(0, "",
		"tar tf t.tar", "tar tvf t.tar", "tar -tf t.tar", "tar --list --file=t.tar", "tar -t --file t.tar", "tar tvvf t.tar", "tar tf t.tgz", "tar tzf t.tgz", "tar tvzf t.tgz", "tar tf t.tbz", "tar tjf t.tbz", "tar tf t.txz", "tar tJf t.txz", "tar tf t.tzst", "tar --zstd -tf t.tzst", "tar tf t.tlz", "tar --lzma -tf t.tlz", "tar -I gzip -tf t.tgz", "tar -I zstd -tf t.tzst", "tar taf t.tgz", "tar tzf t.tar", "tar tjf t.tar", "tar tJf t.tar",
		"tar tvf v7.tar", "tar tvf oldgnu.tar", "tar tvf ustar.tar", "tar tvf pax.tar", "tar tf paxlong.tar", "tar tvf sp-gnu.tar", "tar tvf sp-oldgnu.tar", "tar tvf sp-pax.tar", "tar tvf sp-0.0.tar", "tar tvf sp-0.1.tar", "tar xOf sp-pax.tar", "tar xOf sp-gnu.tar", "tar xOf sp-0.0.tar", "tar xOf sp-0.1.tar", "tar xOf sp-oldgnu.tar",
		"tar tf cut700.tar", "tar tf junk.tar", "tar tf junk2.tar", "tar tf empty.tar", "tar tf zero.tar", "tar tf none.tar", "tar tf front.tar", "tar tf middle.tar", "tar tf lone.tar", "tar tif two.tar", "tar tf two.tar", "tar tf nosuch.tar", "tar tf d", "tar tvf label.tar", "tar tf label.tar", "tar --test-label -f label.tar", "tar --test-label -f one.tar", "tar --test-label -f label.tar 'my label'", "tar --test-label -f label.tar other",
		"tar tf t.tar d/a", "tar tf t.tar d/e", "tar tf t.tar d/e/", "tar tf t.tar nosuch", "tar tf t.tar d/a nosuch d/e/b", "tar tf t.tar d/*", "tar tf t.tar --wildcards d/*", "tar tf t.tar --wildcards '*b*'", "tar tf t.tar --wildcards --no-wildcards-match-slash 'd/*'", "tar tf t.tar --wildcards --no-anchored b", "tar tf t.tar --no-anchored b", "tar tf t.tar --ignore-case D/A", "tar tf t.tar --no-recursion d/e", "tar tf t.tar --exclude=e", "tar tf t.tar --exclude=d/e", "tar tf t.tar --exclude '*b*'", "tar tf t.tar --exclude=b --exclude=a", "tar tf t.tar --anchored --exclude=a", "tar tf t.tar --anchored --exclude=d/a", "tar tf t.tar --no-wildcards --exclude '*'", "tar tf dup.tar --occurrence top", "tar tf dup.tar --occurrence=2 top", "tar tf dup.tar --occurrence=5 top", "tar tf dup.tar top",
		"tar tf abs.tar", "tar tPf abs.tar", "tar tvf abs.tar", "tar tf dots.tar", "tar tf dot.tar", "tar tf dot.tar ./a", "tar tf dot.tar a", "tar tf t.tar --strip-components=1", "tar tf t.tar --strip=1 --show-transformed-names", "tar tf t.tar --transform s/d/q/ --show-transformed", "tar tvf t.tar --numeric-owner", "tar tvf t.tar --full-time", "tar tvf t.tar --utc", "tar tRf t.tar d/e", "tar tvRf v7.tar", "tar tf t.tar --quoting-style=literal", "tar tf t.tar --quoting-style=shell", "tar tf t.tar --quoting-style=c", "tar tf t.tar --quoting-style=x", "tar tf t.tar -C d", "tar tf t.tar -N 2030-01-01", "tar tf t.tar --newer-mtime 2020-01-01", "tar tf one.tar --newer-mtime '@1706933106'",
		"tar", "tar t", "tar tx", "tar tf", "tar -tf", "tar --bogus", "tar -Y", "tar tfY t.tar", "tar --list --nope", "tar tfz t.tar", "tar -t -f t.tar -f one.tar", "tar zcf", "tar --format=v8 -cf x d", "tar -cf x", "tar cf /dev/null", "tar xOf t.tar d/a", "tar xOf t.tar d/a d/e/b", "tar -xOzf t.tgz d/e", "tar xvOf t.tar d/e", "tar --get --to-stdout -f t.tar d/big", "tar xOf t.tar nosuch", "tar tzf cut.tgz", "tar tf tail.tgz", "tar tzf junk.tar", "tar tf t.tar --exclude-from=nosuch", "tar tf t.tar -T nosuch", "tar tf t.tar -b 1", "tar tf t.tar -b x", "tar tf t.tar --record-size=1000", "tar tf t.tar --delete --bogus", "tar tzjf t.tar", "tar rzf t.tgz top", "tar rf t.tgz top", "tar Af", "tar tf t.tar --strip-components=x", "tar tf t.tar --occurrence=x", "tar -tf t.tar --sort=bad", "tar df t.tar", "tar dvf t.tar d/e", "tar df pax.tar", "tar df v7.tar", "tar df nosuch.tar", "tar -d -f t.tar nosuch", "tar df dots.tar",
	))
}

func Test_Tar_Reads_A_Stream_As_GNU_Does(t *testing.T) {
	t.Parallel()
	var rows []programtest.Row
	for _, in := range []string{"", "junk", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00", "BZh9\x17rE8P\x90\x00\x00\x00\x00", "\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"} {
		for _, line := range []string{"tar t", "tar tf -", "tar tz", "tar xf -", "tar tj", "tar tvi"} {
			rows = append(rows, programtest.Row{Line: line, Stdin: in})
		}
	}
	programtest.RunRows(t, rows)
}

func Test_Tar_Extracts_As_GNU_Does(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, tarArchives)
	inDir := made + "rm -rf out up d/l* d/e\n"
	rows := programtest.TarRows(programtest.NoTimes, inDir,
		"tar xf t.tar", "tar xvf t.tar", "tar xzf t.tgz", "tar -x -f t.tgz", "tar xf t.tbz", "tar xf t.txz", "tar xf t.tzst", "tar xf v7.tar", "tar xf oldgnu.tar", "tar xf ustar.tar", "tar xf pax.tar", "tar xf paxlong.tar", "tar xf sp-gnu.tar", "tar xf sp-pax.tar", "tar xf sp-0.1.tar", "tar xvf t.tar d/e", "tar xf t.tar -C x", "tar xf t.tar -C nosuch", "tar xf t.tar -C t.tar", "tar xf t.tar -C x d/a", "tar xvf t.tar d/a nosuch", "tar xf cut700.tar", "tar xf junk.tar", "tar xf middle.tar", "tar xf front.tar", "tar xf abs.tar", "tar xvf abs.tar", "tar xf dots.tar", "tar xf dot.tar", "tar xf label.tar", "tar xf dup.tar", "tar xf two.tar", "tar xif two.tar", "tar xf lone.tar", "tar xf empty.tar",
		"tar xf t.tar --strip-components=1", "tar xvf t.tar --strip-components=1", "tar xf t.tar --strip-components=2", "tar xf t.tar --strip-components=1 --show-transformed-names -v", "tar xf t.tar --transform s/^d/x/", "tar xvf t.tar --transform 's,^d,new/dir,'", "tar xvf t.tar --transform s/a/b/g --show-transformed", "tar xf t.tar --one-top-level d/e", "tar xf t.tar --one-top-level=tt d/e", "tar xf t.tar --exclude=e", "tar xf t.tar --exclude='x*'", "tar xf t.tar --wildcards 'd/e*'", "tar xf t.tar -k", "tar xf t.tar --no-same-permissions", "tar xpf t.tar", "tar xf t.tar --no-same-owner", "tar xf t.tar --same-owner", "tar xof t.tar", "tar xf t.tar -m", "tar xf t.tar --numeric-owner", "tar xvvf t.tar d/e", "tar xf t.tar --index-file=list -v", "tar xf t.tar --totals --bogus", "tar xOf t.tar d/a d/big", "tar --extract --verbose --file t.tar d/l d/z d/p", "tar xf t.tar d/z", "tar xf pax.tar d/z", "tar xvf t.tar --occurrence=1 d/a", "tar xf t.tar --no-recursion d/e", "tar xf t.tar -T /dev/null",
	)
	over := made + "rm -rf d/e/f d/l; mkdir d/l; echo keep >d/e/b; mkdir d/p2; rm d/p; mkdir d/p; echo inside >d/p/in; chmod 700 d; ln -sf top d/big; find d -exec touch -h -d '2025-02-03' {} +\n"
	rows = append(rows, programtest.TarRows(programtest.NoTimes, over,
		"tar xf t.tar", "tar xvf t.tar", "tar xvkf t.tar", "tar xf t.tar --skip-old-files", "tar xvf t.tar --skip-old-files", "tar xf t.tar --keep-newer-files", "tar xvf t.tar --keep-newer-files", "tar xf t.tar --overwrite", "tar xf t.tar --no-overwrite-dir", "tar xUf t.tar", "tar xf t.tar --recursive-unlink", "tar xf t.tar -U --recursive-unlink", "tar xf t.tar --overwrite-dir", "tar df t.tar", "tar dvf t.tar",
	)...)
	linked := "mkdir real dir2; echo in >real/x; tar -cf a.tar real; rm -r real; ln -s dir2 real\n"
	rows = append(rows, programtest.TarRows(programtest.NoTimes, linked, "tar xf a.tar", "tar xf a.tar --keep-directory-symlink", "tar xf a.tar --overwrite", "tar xkf a.tar")...)
	programtest.RunRows(t, rows)
}

// Test_Tar_Restores_Times looks at the times too, of members that have them all.
func Test_Tar_Restores_Times(t *testing.T) {
	t.Parallel()
	programtest.RunRows(t, programtest.TarRows(0, programtest.MadeOnce(t, tarArchives)+"rm -rf d top; touch -d 2001-01-01 .\n", "tar xf t.tar", "tar xf t.tar d/e d/a", "tar xf paxlong.tar", "tar xzf t.tgz --touch d/a"))
}

func Test_Tar_Packs_As_GNU_Does(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, tarSetup+"mkdir -p .git c/sub v; echo x >.git/config; echo 'Signature: 8a477f597d28d172789f06886806bc55' >c/CACHEDIR.TAG; echo y >c/sub/f; echo z >v/f~; echo keep >v/keep; printf 'd/a\\nd/e\\n' >list; printf 'd/a\\0top\\0' >list0; printf -- '-C d\\na\\n' >listC; printf 'e\\n*z\\n' >ex; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	// The whole archive is the output: it has to be the same to the byte.
	same := programtest.TarRows(0, "",
		"tar --sort=name -cf - d", "tar --sort=name -c d", "tar cf - top", "tar cvf - top", "tar cvvf - top d/a", "tar --sort=name --format=v7 -cf - d/e top", "tar --format=oldgnu --sort=name -cf - d/e d/a d/z d/l", "tar --format=ustar --sort=name -cf - d/e d/a d/z d/l", "tar --format=ustar --sort=name -cf - d", "tar --format=v7 --sort=name -cf - d", "tar cf - d/a d/z", "tar cf - --hard-dereference d/a d/z", "tar chf - d/l", "tar cf - nosuch", "tar cf - top nosuch d/a", "tar cf - -C d a", "tar cf - -C d a -C e b", "tar cf - -C d a -C ../v keep", "tar cf - -C nosuch a", "tar cf - -C top a", "tar --sort=name -cf - .", "tar --sort=name -cf - ./d", "tar --sort=name -cf - d/", "tar cf - d/../top", "tar cf - ../w/top", "tar --sort=name -cf - empty", "tar cf - out up", "tar cf - d/p", "tar --sort=name -cf - --exclude=e d", "tar --sort=name -cf - --exclude='*z' --exclude=d/a d", "tar --sort=name -cf - d --exclude=a", "tar --sort=name -cf - --exclude=a d --exclude=e", "tar --sort=name -cf - -X ex d", "tar --sort=name --exclude-vcs -cf - .", "tar --sort=name --exclude-backups -cf - v", "tar --sort=name --exclude-caches -cf - c d/a", "tar --sort=name --exclude-caches-under -cf - c d/a", "tar --sort=name --exclude-caches-all -cf - c d/a", "tar --sort=name --exclude-tag=keep -cf - v", "tar --sort=name --exclude-tag-all=keep -cf - v top", "tar --sort=name -cf - -T list", "tar -cf - --null -T list0", "tar -cf - -T listC", "tar -cf - -T /dev/null", "tar -cf - -T nosuch", "tar --sort=name --no-recursion -cf - d", "tar cf - --owner=foo --group=bar top", "tar cf - --owner=foo:77 --group=bar:88 top", "tar cf - --owner=5 --group=daemon top", "tar cf - --owner=root --group=0 --numeric-owner top", "tar cf - --mode=u=rwx,go= top d/e/b", "tar cf - --mode=400 top", "tar cf - --mode=bad top", "tar cf - --mtime=2020-02-02 top", "tar cf - --mtime='2020-02-02 10:00' -v top", "tar cf - --mtime=@5 top", "tar cf - --mtime=./d/a top", "tar cf - --mtime=2020-01-01 --clamp-mtime top", "tar cf - --mtime=2030-01-01 --clamp-mtime top", "tar --sort=name -cf - --transform s,^d,q, d", "tar --sort=name -cvf - --transform s,^d,q, d/e", "tar --sort=name -cvf - --show-transformed --transform s,^d,q, d/e", "tar -cf - --transform 's/a/[&&]/g' d/a", "tar -cf - --xform 's/\\(.*\\)\\/\\(.*\\)/\\2-\\1/x' d/a", "tar -cf - --transform 's/(.*)\\/(.*)/\\U\\2\\E-\\u\\1/x' d/a", "tar -cf - --transform s/a/b/S d/l d/a", "tar -cf - --transform 's/a/b/;s/b/c/' d/a", "tar -cf - --transform bad d/a", "tar -cf - --transform s/a d/a", "tar cf - --label=vol --mtime=@0 --exclude=x -b 4 --bogus", "tar -b 1 -cf - top", "tar -b 40 -cf - top", "tar --record-size=1024 -cf - top", "tar cf - -N 2030-01-01 top d/a", "tar --sort=name -cvf - --newer-mtime='2020-01-01' d/e", "tar cf - ''", "tar -cf - --remove-files --bogus", "tar cf - -S top", "tar --sort=name -cf - --index-file=/dev/null -v d/e", "tar -cf - --add-file=top", "tar -cf - --add-file=-x", "tar -cf - -- -x",
	)
	programtest.RunReadOnly(t, made, same)
}

func Test_Tar_Changes_Archives_As_GNU_Does(t *testing.T) {
	t.Parallel()
	made := programtest.MadeOnce(t, tarSetup+"tar --sort=name -cf t.tar d; tar -cf one.tar top; tar -b 1 -cf small.tar top; tar -czf t.tgz d; echo junk >junk; tar -Pcf abs.tar /etc/hostname; : >empty.tar; find . -exec touch -h -d '2024-02-03 04:05:06' {} +\n")
	programtest.RunRows(t, programtest.TarRows(programtest.NoTimes, made,
		"tar rf one.tar d/a", "tar rvf one.tar d/a d/e/b", "tar rf new.tar top", "tar rf small.tar d/a", "tar rf one.tar nosuch", "tar rf t.tgz top", "tar rf empty.tar top", "tar uf one.tar top", "tar uvf t.tar d/a top", "tar uf t.tar d", "tar Af one.tar small.tar", "tar Af one.tar nosuch", "tar --delete -f t.tar d/a", "tar --delete -f t.tar d/e", "tar --delete -f t.tar d", "tar --delete -f t.tar nosuch", "tar --delete -f t.tar d/a nosuch d/z", "tar --delete -f t.tar --wildcards 'd/*z'", "tar --delete -f nosuch.tar d", "tar --delete -f t.tgz d", "tar --delete -f one.tar top", "tar rf - top", "tar uf one.tar nosuch", "tar cf new.tar top --remove-files", "tar cf new.tar d/e --remove-files", "tar cf d/in.tar d/a d/e", "tar cvf one.tar one.tar", "tar cf nosuch/x.tar top", "tar cf d top", "tar cf one.tar", "tar -cf a.tar -f b.tar top", "tar cvf new.tar d/a top", "tar cvvf new.tar d/a top",
	))
	update := "sleep 0.01; echo newer >top; touch -d '2025-01-01' top d/e/b; touch -d 2001-01-01 d/a\n"
	programtest.RunRows(t, programtest.TarRows(programtest.NoTimes, made+update, "tar uf one.tar top", "tar uvf t.tar d/a d/e", "tar uvf t.tar --sort=name d", "tar df t.tar"))
}

// Test_Tar_And_GNU_Read_Each_Other goes both ways with compressed archives, whose bytes may differ.
func Test_Tar_And_GNU_Read_Each_Other(t *testing.T) {
	t.Parallel()
	work := t.TempDir() + "/w"
	programtest.Prepare(t, filepath.Dir(work), "mkdir w")
	programtest.Prepare(t, work, tarSetup+"truncate -s 3M sparse; printf mid | dd of=sparse bs=1 conv=notrunc 2>/dev/null")
	for _, options := range []string{"-z", "-j", "-J", "--lzma", "--zstd", "-I pigz", "-I 'xz -9'", "--format=pax", "-S", "-S --format=pax", "-S --format=oldgnu", "-z --format=posix", "-a"} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			tree := programtest.ImportTree(t, work)
			programtest.RunVirtual(t, tree, work, programtest.SplitWords(t, "truncate -s 3 sparse"), programtest.Row{})
			programtest.RunVirtual(t, tree, work, programtest.SplitWords(t, "truncate -s 3M sparse"), programtest.Row{})
			name := "a.tar"
			if options == "-a" {
				name = "a.tar.xz"
			}
			got := programtest.RunVirtual(t, tree, work, programtest.SplitWords(t, "tar "+options+" -cf "+name+" d top out up sparse"), programtest.Row{})
			if got.Status != 0 || got.Stderr != "" {
				t.Fatalf("status %d: %s", got.Status, got.Stderr)
			}
			packed := programtest.ReadVirtual(t, tree, work+"/"+name)
			if strings.Contains(options, "-S") && len(packed) > 1<<20 {
				t.Errorf("%d bytes: there are no holes", len(packed))
			}
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/"+name, packed, 0o600); err != nil {
				t.Fatal(err)
			}
			programtest.Prepare(t, dir, "mkdir out; tar -xf "+name+" -C out; diff -r --no-dereference out/d/e "+work+"/d/e; cmp out/sparse "+work+"/sparse; cmp out/d/big "+work+"/d/big; test out/d/a -ef out/d/z; test \"$(readlink out/up)\" = ../up; test $(stat -c %Y out/top) = $(stat -c %Y "+work+"/top)")
		})
	}
}
