// Package tar holds the program tar.
package tar

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
)

func tarCommand() program.Description {
	return program.Description{
		Origin: "GNU tar 1.34", TryHelp: "Try '%[1]s --help' or '%[1]s --usage' for more information.\n",
		Name: "tar", Usage: "[OPTION...] [FILE]...",
		Summary: "pack FILEs into an archive, and take them out again",
		Help: `Letters without a dash may stand first, as in: tar czf a.tar.gz dir

What to do:
  -A, --catenate, --concatenate   add archives to an archive
  -c, --create                    make an archive
  -d, --diff, --compare           compare an archive with the files
      --delete                    remove members from an archive
  -r, --append                    add files at the end
  -t, --list                      list the members
      --test-label                show the label
  -u, --update                    add files that are newer than their members
  -x, --extract, --get            take members out

Archives:
  -f, --file=ARCHIVE              - is standard input or output, as without -f
  -a, --auto-compress             compress as the name of the archive says
  -z --gzip, -j --bzip2, -J --xz, --lzma, --zstd, -Z --compress (read only)
  -I, --use-compress-program=PROG one of these programs
  -H, --format=FORMAT             gnu (default), oldgnu, pax, posix, ustar, v7
  -S, --sparse                    keep holes
  -b, --blocking-factor=N, --record-size=N, -i, --ignore-zeros, -V, --label=TEXT

Which files:
  -C, --directory=DIR             go there for the names that follow
  -T, --files-from=FILE           read names; --null, --verbatim-files-from
      --exclude=PATTERN, -X, --exclude-from=FILE
      --exclude-vcs, --exclude-backups, --exclude-caches[-under|-all], --exclude-tag[-under|-all]=FILE
      --wildcards, --wildcards-match-slash, --anchored, --ignore-case and their --no-forms
  -N, --newer=DATE, --newer-mtime=DATE, -K, --starting-file=NAME, --occurrence[=N]
  -h, --dereference, --hard-dereference, --no-recursion, --one-file-system, --sort=name, --remove-files

How members are named and marked:
  --transform, --xform=EXPRESSION change names as sed does; --show-transformed-names
  -P, --absolute-names, --strip-components=N, --one-top-level[=DIR]
      --owner=NAME --group=NAME --mode=MODE --mtime=DATE --clamp-mtime --numeric-owner

Taking out:
  -k --keep-old-files, --skip-old-files, --keep-newer-files, --overwrite, -U --unlink-first,
  --recursive-unlink, --keep-directory-symlink, --no-overwrite-dir, -m --touch, -O --to-stdout,
  -p --preserve-permissions, --same-owner, --no-same-owner, --no-same-permissions

Telling:
  -v --verbose, --full-time, --utc, -R --block-number, --totals, --quoting-style=STYLE, --index-file=FILE
      --help, --version`,
		Run: runTar,
	}
}

// Options of tar without a letter.
const (
	tarDelete = getopt.First + iota
	tarTestLabel
	tarAnchored
	tarNoAnchored
	tarIgnoreCase
	tarNoIgnoreCase
	tarWildcards
	tarNoWildcards
	tarMatchSlash
	tarNoMatchSlash
	tarAddFile
	tarExclude
	tarExcludeVCS
	tarExcludeBackups
	tarExcludeCaches
	tarExcludeCachesUnder
	tarExcludeCachesAll
	tarExcludeTag
	tarExcludeTagUnder
	tarExcludeTagAll
	tarNull
	tarNoNull
	tarVerbatim
	tarNoVerbatim
	tarRecursion
	tarNoRecursion
	tarHardDereference
	tarRemoveFiles
	tarSort
	tarOwner
	tarGroup
	tarMode
	tarMtime
	tarClampMtime
	tarNumericOwner
	tarSameOwner
	tarNoSameOwner
	tarNoSamePermissions
	tarKeepNewer
	tarSkipOld
	tarOverwrite
	tarOverwriteDir
	tarNoOverwriteDir
	tarKeepDirSymlink
	tarRecursiveUnlink
	tarOneTopLevel
	tarStrip
	tarTransform
	tarShowTransformed
	tarTotals
	tarFullTime
	tarUTC
	tarIndexFile
	tarQuotingStyle
	tarLzma
	tarZstd
	tarNoAutoCompress
	tarRecordSize
	tarNewerMtime
	tarOccurrence
	tarOneFileSystem
	tarOldArchive
	tarPosix
	tarIgnoreFailedRead
	tarAccepted      // accepted without effect
	tarAcceptedValue // the same, with an argument
	tarRefused       // not supported
	tarRefusedValue
)

var tarOptions = []getopt.Option{
	{Short: 'A', Long: "catenate"},
	{Short: 'A', Long: "concatenate"},
	{Short: 'c', Long: "create"},
	{Short: 'd', Long: "diff"},
	{Short: 'd', Long: "compare"},
	{Long: "delete", ID: tarDelete},
	{Short: 'r', Long: "append"},
	{Short: 't', Long: "list"},
	{Long: "test-label", ID: tarTestLabel},
	{Short: 'u', Long: "update"},
	{Short: 'x', Long: "extract"},
	{Short: 'x', Long: "get"},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'a', Long: "auto-compress"},
	{Long: "no-auto-compress", ID: tarNoAutoCompress},
	{Short: 'z', Long: "gzip"},
	{Short: 'z', Long: "gunzip"},
	{Short: 'z', Long: "ungzip"},
	{Short: 'j', Long: "bzip2"},
	{Short: 'J', Long: "xz"},
	{Long: "lzma", ID: tarLzma},
	{Long: "zstd", ID: tarZstd},
	{Short: 'Z', Long: "compress"},
	{Short: 'Z', Long: "uncompress"},
	{Short: 'I', Long: "use-compress-program", Arg: getopt.Required},
	{Short: 'H', Long: "format", Arg: getopt.Required},
	{Long: "old-archive", ID: tarOldArchive},
	{Long: "portability", ID: tarOldArchive},
	{Long: "posix", ID: tarPosix},
	{Short: 'o'},
	{Short: 'S', Long: "sparse"},
	{Short: 'b', Long: "blocking-factor", Arg: getopt.Required},
	{Long: "record-size", ID: tarRecordSize, Arg: getopt.Required},
	{Short: 'i', Long: "ignore-zeros"},
	{Short: 'V', Long: "label", Arg: getopt.Required},
	{Short: 'C', Long: "directory", Arg: getopt.Required},
	{Short: 'T', Long: "files-from", Arg: getopt.Required},
	{Long: "null", ID: tarNull},
	{Long: "no-null", ID: tarNoNull},
	{Long: "verbatim-files-from", ID: tarVerbatim},
	{Long: "no-verbatim-files-from", ID: tarNoVerbatim},
	{Long: "add-file", ID: tarAddFile, Arg: getopt.Required},
	{Long: "exclude", ID: tarExclude, Arg: getopt.Required},
	{Short: 'X', Long: "exclude-from", Arg: getopt.Required},
	{Long: "exclude-vcs", ID: tarExcludeVCS},
	{Long: "exclude-backups", ID: tarExcludeBackups},
	{Long: "exclude-caches", ID: tarExcludeCaches},
	{Long: "exclude-caches-under", ID: tarExcludeCachesUnder},
	{Long: "exclude-caches-all", ID: tarExcludeCachesAll},
	{Long: "exclude-tag", ID: tarExcludeTag, Arg: getopt.Required},
	{Long: "exclude-tag-under", ID: tarExcludeTagUnder, Arg: getopt.Required},
	{Long: "exclude-tag-all", ID: tarExcludeTagAll, Arg: getopt.Required},
	{Long: "wildcards", ID: tarWildcards},
	{Long: "no-wildcards", ID: tarNoWildcards},
	{Long: "wildcards-match-slash", ID: tarMatchSlash},
	{Long: "no-wildcards-match-slash", ID: tarNoMatchSlash},
	{Long: "anchored", ID: tarAnchored},
	{Long: "no-anchored", ID: tarNoAnchored},
	{Long: "ignore-case", ID: tarIgnoreCase},
	{Long: "no-ignore-case", ID: tarNoIgnoreCase},
	{Short: 'N', Long: "newer", Arg: getopt.Required},
	{Short: 'N', Long: "after-date", Arg: getopt.Required},
	{Long: "newer-mtime", ID: tarNewerMtime, Arg: getopt.Required},
	{Short: 'K', Long: "starting-file", Arg: getopt.Required},
	{Long: "occurrence", ID: tarOccurrence, Arg: getopt.Optional},
	{Short: 'h', Long: "dereference"},
	{Long: "hard-dereference", ID: tarHardDereference},
	{Long: "recursion", ID: tarRecursion},
	{Long: "no-recursion", ID: tarNoRecursion},
	{Long: "one-file-system", ID: tarOneFileSystem},
	{Long: "sort", ID: tarSort, Arg: getopt.Required},
	{Long: "remove-files", ID: tarRemoveFiles},
	{Long: "ignore-failed-read", ID: tarIgnoreFailedRead},
	{Short: 's', ID: tarAccepted, Long: "preserve-order"},
	{Long: "same-order", ID: tarAccepted},
	{Long: "transform", ID: tarTransform, Arg: getopt.Required},
	{Long: "xform", ID: tarTransform, Arg: getopt.Required},
	{Long: "show-transformed-names", ID: tarShowTransformed},
	{Long: "show-stored-names", ID: tarShowTransformed},
	{Short: 'P', Long: "absolute-names"},
	{Long: "strip-components", ID: tarStrip, Arg: getopt.Required},
	{Long: "one-top-level", ID: tarOneTopLevel, Arg: getopt.Optional},
	{Long: "owner", ID: tarOwner, Arg: getopt.Required},
	{Long: "group", ID: tarGroup, Arg: getopt.Required},
	{Long: "mode", ID: tarMode, Arg: getopt.Required},
	{Long: "mtime", ID: tarMtime, Arg: getopt.Required},
	{Long: "clamp-mtime", ID: tarClampMtime},
	{Long: "numeric-owner", ID: tarNumericOwner},
	{Short: 'k', Long: "keep-old-files"},
	{Long: "skip-old-files", ID: tarSkipOld},
	{Long: "keep-newer-files", ID: tarKeepNewer},
	{Long: "overwrite", ID: tarOverwrite},
	{Long: "overwrite-dir", ID: tarOverwriteDir},
	{Long: "no-overwrite-dir", ID: tarNoOverwriteDir},
	{Long: "keep-directory-symlink", ID: tarKeepDirSymlink},
	{Short: 'U', Long: "unlink-first"},
	{Long: "recursive-unlink", ID: tarRecursiveUnlink},
	{Short: 'm', Long: "touch"},
	{Short: 'O', Long: "to-stdout"},
	{Short: 'p', Long: "preserve-permissions"},
	{Short: 'p', Long: "same-permissions"},
	{Long: "no-same-permissions", ID: tarNoSamePermissions},
	{Long: "same-owner", ID: tarSameOwner},
	{Long: "no-same-owner", ID: tarNoSameOwner},
	{Short: 'v', Long: "verbose"},
	{Long: "full-time", ID: tarFullTime},
	{Long: "utc", ID: tarUTC},
	{Short: 'R', Long: "block-number"},
	{Long: "totals", ID: tarTotals, Arg: getopt.Optional},
	{Long: "index-file", ID: tarIndexFile, Arg: getopt.Required},
	{Long: "quoting-style", ID: tarQuotingStyle, Arg: getopt.Required},

	// Archives are whole and in memory, and every change reaches them at once.
	{Short: 'B', Long: "read-full-records", ID: tarAccepted},
	{Short: 'n', Long: "seek", ID: tarAccepted},
	{Short: 'W', Long: "verify", ID: tarAccepted},
	{Short: 'l', Long: "check-links", ID: tarAccepted},
	{Long: "no-seek", ID: tarAccepted},
	{Long: "force-local", ID: tarAccepted},
	{Long: "no-check-device", ID: tarAccepted},
	{Long: "check-device", ID: tarAccepted},
	{Long: "delay-directory-restore", ID: tarAccepted},
	{Long: "no-delay-directory-restore", ID: tarAccepted},
	{Long: "ignore-command-error", ID: tarAccepted},
	{Long: "no-ignore-command-error", ID: tarAccepted},
	{Long: "no-acls", ID: tarAccepted},
	{Long: "no-selinux", ID: tarAccepted},
	{Long: "no-xattrs", ID: tarAccepted},
	{Long: "acls", ID: tarAccepted},
	{Long: "selinux", ID: tarAccepted},
	{Long: "xattrs", ID: tarAccepted},
	{Long: "restrict", ID: tarAccepted},
	{Long: "unquote", ID: tarAccepted},
	{Long: "atime-preserve", ID: tarAccepted, Arg: getopt.Optional},
	{Long: "warning", ID: tarAcceptedValue, Arg: getopt.Required},
	{Long: "hole-detection", ID: tarAcceptedValue, Arg: getopt.Required},
	{Long: "xattrs-include", ID: tarAcceptedValue, Arg: getopt.Required},
	{Long: "xattrs-exclude", ID: tarAcceptedValue, Arg: getopt.Required},

	{Short: 'g', Long: "listed-incremental", ID: tarRefusedValue, Arg: getopt.Required},
	{Short: 'G', Long: "incremental", ID: tarRefused},
	{Short: 'F', Long: "info-script", ID: tarRefusedValue, Arg: getopt.Required},
	{Short: 'L', Long: "tape-length", ID: tarRefusedValue, Arg: getopt.Required},
	{Short: 'M', Long: "multi-volume", ID: tarRefused},
	{Short: 'w', Long: "interactive", ID: tarRefused},
	{Long: "confirmation", ID: tarRefused},
	{Long: "checkpoint", ID: tarRefused, Arg: getopt.Optional},
	{Long: "checkpoint-action", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "to-command", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "pax-option", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "lzip", ID: tarRefused},
	{Long: "lzop", ID: tarRefused},
	{Long: "backup", ID: tarRefused, Arg: getopt.Optional},
	{Long: "suffix", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "level", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "no-unquote", ID: tarRefused},
	{Long: "exclude-ignore", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "exclude-ignore-recursive", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "exclude-vcs-ignores", ID: tarRefused},
	{Long: "owner-map", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "group-map", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "no-quote-chars", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "quote-chars", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "show-defaults", ID: tarRefused},
	{Long: "show-omitted-dirs", ID: tarRefused},
	{Long: "sparse-version", ID: tarRefusedValue, Arg: getopt.Required},
	{Long: "usage", ID: tarRefused},
}

// maxOldLetters bounds the letters without a dash; a longer word is taken for an operand.
const maxOldLetters = 1 << 10

// oldTarArguments puts dashes before letters that have none: "czf x" is "-c -z -f x".
// Letter is not 0 when the argument of that one is missing.
func oldTarArguments(args []string) (_ []string, letter byte) {
	if len(args) < 2 || args[1] == "" || args[1][0] == '-' {
		return args, 0
	}
	letters, rest := args[1], args[2:]
	if len(letters) > maxOldLetters {
		return args, 0
	}
	out := []string{args[0]} // bounded: maxOldLetters
	for i := range len(letters) {
		out = append(out, "-"+letters[i:i+1])
		if strings.IndexByte("fIHbVCTXNKgFL", letters[i]) < 0 {
			continue
		}
		if len(rest) == 0 {
			return args, letters[i]
		}
		out, rest = append(out, rest[0]), rest[1:]
	}
	return append(out, rest...), 0
}
