package date_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// dateStrings describe times; those that depend on now do so by days at least.
var dateStrings = []string{
	"2024-01-05", "2024-01-05 10:11:12", "2024-01-05T10:11:12", "2024-01-05T10:11:12Z", "2024-01-05T10:11:12.345+02:00", "2024-01-05T10:11:12,345Z", "2024-01-05 10:11", "2024-01-05 10:11:12.123456789", "2024-01-05 10:11 UTC", "2024-01-05 10:11 +0200", "2024-01-05 10:11 +02", "2024-01-05 10:11 -3", "2024-01-05 10:11+5:30", "20240105", "20240105 1011", "20240105T1011", "240105", "2024/1/5", "1/5/2024", "1/5/24", "1/5", "5 Jan 2024", "5 January 2024", "5-Jan-2024", "5-jan-24", "Jan 5 2024", "Jan 5, 2024", "January 5, 2024 10:11 pm", "jan-5-2024", "5jan2024", "Jan 5", "5 Jan", "jan 5 10:11", "sept 5 2024", "Jan. 5 2024", "2024-1-5", "24-1-5", "99-1-5", "69-1-5", "68-1-5",
	"@0", "@1700000000", "@-1", "@1700000000.5", "@1700000000.123456789", " @0", "@", "@x", "@0 +1 day", "@1 2",
	"10:11 2024-01-05", "10pm 2024-01-05", "12am 2024-01-05", "12pm 2024-01-05", "12:30 a.m. 2024-01-05", "1 PM 2024-01-05", "13pm 2024-01-05", "0am 2024-01-05", "2024-01-05 24:00", "2024-01-05 23:60", "2024-01-05 23:59:60", "2024-01-05 10", "2024-01-05 1011", "2024-01-05 101112",
	"2024-02-30", "2024-02-29", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32", "0001-01-01", "9999-12-31", "10000-01-01", "1969-12-31", "1900-01-01", "2024-06-31",
	"2024-01-05 +1 day", "2024-01-05 -1 day", "2024-01-05 1 day", "2024-01-05 1 day ago", "2024-01-05 3 weeks", "2024-01-05 + 2 months", "2024-01-31 +1 month", "2024-01-31 1 month ago", "2024-03-31 -1 month", "2024-02-29 +1 year", "2024-02-29 1 year ago", "2024-01-05 +1 fortnight", "2024-01-05 2 hours", "2024-01-05 2 hours ago", "2024-01-05 90 minutes", "2024-01-05 90 min", "2024-01-05 30 sec", "2024-01-05 1.5 seconds", "2024-01-05 1.5 hours", "2024-01-05 10:00 +1 day", "2024-01-05 10:00 1 day", "2024-01-05 10:00 UTC +1 day", "2024-01-05 10:00:00 -2 hours", "2024-01-05 next day", "2024-01-05 last month", "2024-01-05 this week", "2024-01-05 next year", "2024-01-05 tomorrow", "2024-01-05 yesterday", "2024-01-05 12:00 yesterday", "2024-01-05 day", "2024-01-05 week ago", "2024-01-05 third week", "2024-01-05 twelfth month", "2024-01-05 1 day 2 hours 3 minutes", "2024-01-05 1 day ago 2 hours ago", "2024-01-05 -1 day -1 month", "2024-01-05 --1 day", "2024-01-05 +-1 day", "2024-01-05 1 day hence", "2024-01-05 2 days ago 10:00",
	"2024-01-05 10:00 EST", "2024-01-05 10:00 EDT", "2024-01-05 10:00 PST", "2024-01-05 10:00 CET", "2024-01-05 10:00 CEST", "2024-01-05 10:00 JST", "2024-01-05 10:00 GMT+2", "2024-01-05 10:00 UTC-5", "2024-01-05 10:00 Z", "2024-01-05 10:00 A", "2024-01-05 10:00 J", "2024-01-05 10:00 N", "2024-01-05 10:00 EST DST", "2024-01-05 10:00 IST", "2024-01-05 10:00 MSK", "2024-01-05 10:00 foo", "2024-01-05 UTC", "2024-01-05 EST",
	"TZ=\"America/New_York\" 2024-01-05 10:00", "TZ=\"UTC\" 2024-07-05 10:00", "TZ=\"x", "TZ=\"Asia/Tokyo\" 9am 2024-01-05",
	"monday", "next monday", "last monday", "this monday", "monday next week", "last friday", "3 friday", "sun", "tues", "wednes", "thurs", "thur", "saturday,", "Fri, 5 Jan 2024", "Fri, 05 Jan 2024 10:11:12 +0000", "Fri Jan  5 10:11:12 UTC 2024", "Fri Jan  5 10:11:12 2024", "Friday, January 5, 2024", "mon tue", "first monday", "third monday", "monday 10:00", "monday 10:00 +1 day",
	"today", "yesterday", "tomorrow", "tomorrow 10:00", "yesterday noon", "midnight", "00:00", "today 00:00", "0:00 tomorrow", "tomorrow 0", "now", "next month", "last year", "1 year ago", "3 days ago", "-3 days", "+1 week", "2 weeks ago 12:00", "next week 08:30", "1 month ago 00:00:00", "tomorrow + 1 day 00:00", "12:00 next month",
	"", " ", "foo", "2024-01-05 foo", "2024", "1234", "12", "99", "2400", "1260", "2024-01-05 2024-01-06", "10:00 11:00", "2024-01-05 (comment) 10:00", "(only comment)", "2024-01-05 (nested (comment))", "2024-01-05,10:00", "2024-01-05, 10:00", "Jan 5,2024", "1/2/3/4", "1//2", "2024--01-05", "2024-01", "Jan 2024", "January", "5", "+5", "-5", "1 2 3", "days", "day ago", "ago", "next", "5 Jan 10:00", "Jan 5 2024 10:00:00 AM", "10:00am", "10:00 am tomorrow", "10:11:12.5 2024-01-05", "10.5", "2024-W01-5", "99999999999999999999", "2024-01-05 99999999999 days", "2024-01-05T", "T10:00", "2024-01-05T10", "2024-01-05t10:00", "2024-01-05 10:00 pm", "2024-01-05 a", "dst", "2024-07-05 10:00 dst", "2024-01-05 10:00 am pm",
	"2024-03-10 02:30", "2024-03-10 03:30", "2024-11-03 01:30", "2024-03-31 02:30", "2024-07-01 12:00", "2024-03-09 02:30 +1 day", "2024-03-10 +24 hours", "2024-11-02 12:00 1 day",
}

func Test_Dates_Are_Understood_As_GNU_Does(t *testing.T) {
	t.Parallel()
	for _, tz := range []string{"UTC", "America/New_York", "Europe/Berlin"} {
		for _, s := range dateStrings {
			t.Run(tz+" "+s, func(t *testing.T) {
				t.Parallel()
				format := "+%Y-%m-%d %H:%M %z" // What is relative to now agrees to the minute.
				if strings.Contains(s, "20") || strings.Contains(s, "@") {
					format = "+%Y-%m-%d %H:%M:%S.%N %z"
				}
				args, r := []string{"date", "-d", s, format}, programtest.Row{Env: []string{"TZ=" + tz}}
				// Once more when a minute has just ended.
				for try := 0; ; try++ {
					want, got := programtest.RunReal(t, t.TempDir(), args, r), runBare(t, args, r)
					if got.Status == want.Status && got.Stdout == want.Stdout && got.Stderr == want.Stderr {
						return
					}
					if try == 1 {
						t.Fatalf("status %d, %q, %q\n want %d, %q, %q", got.Status, got.Stdout, got.Stderr, want.Status, want.Stdout, want.Stderr)
					}
				}
			})
		}
	}
}

// runBare runs a command that needs no files.
func runBare(t *testing.T, args []string, r programtest.Row) programtest.Outcome {
	t.Helper()
	var out, msg bytes.Buffer
	p := shell.NewProc(t.Context(), shell.ProcOptions{
		Args: args, Env: programtest.RealEnv(r.Env), Stdin: strings.NewReader(r.Stdin), Stdout: &out, Stderr: &msg, Commands: coreutils.Commands(),
	})
	status := p.Run(shell.Spawn{Args: args})
	return programtest.Outcome{Status: status, Stdout: out.String(), Stderr: msg.String()}
}

func Test_Date_Prints_As_GNU_Does(t *testing.T) {
	t.Parallel()
	const at = " -d '2024-03-05 07:08:09.012345678'"
	var lines []string
	for _, f := range []string{
		"%%", "%a %A %b %B %h", "%c", "%C %y %Y %G %g", "%d %e %j", "%D %F", "%H %I %k %l %M %S", "%m %q", "%n|%t", "%N %3N %6N %12N %1N", "%p %P %r %R %T %X %x", "%s", "%u %w %U %V %W", "%z %:z %::z %:::z %Z", "%-d %-m %-H %-I %-M %-S %-j", "%_d %_m %_H %_j %_S", "%^a %^b %^B %^p %#a %#p %#Z", "%010d %5d %_5d %-5d", "%10a|%-10a|%010a", "%+4Y %+6Y %6Y %_6Y", "%Q %E %Ey %Od %EY %EC %Ec %OQ %", "%5Q %: %:a", "%-N %_N %_3N %-3N", "%010F %+10F %12F %_12F %-F", "%12D %12T %^T", "%_z %-z %10z %_10z %_:z %8:z", "%E5d %O %Ez", "%s.%N", "%Y%m%d%H%M%S", "plain", "", "%k%l", "%3C %C", "%30c|%^30c", "%:", "%::", "%::::z", "%1", "%-", "%05e", "%G-W%V-%u", "%^Z %10Z", "%+d %+e %+C", "%#b %#B %#h %#P %^P",
	} {
		lines = append(lines, "date '+"+f+"'"+at)
	}
	rows := programtest.RowsOf("touch -d '2020-05-06 07:08:09.5' f; printf '2024-01-01\\n\\nbad\\n2024-01-02' > dates",
		append(lines, "date -R"+at, "date -I"+at, "date -Ihours"+at, "date -Iminutes"+at, "date -Iseconds"+at, "date -Ins"+at, "date --iso-8601=ns"+at, "date -Ifoo"+at, "date -Id"+at, "date --rfc-3339=date"+at, "date --rfc-3339=seconds"+at, "date --rfc-3339=ns"+at, "date --rfc-3339=foo"+at, "date --rfc-3339"+at, "date --rfc-email"+at, "date --rfc-2822"+at, "date"+at, "date -u"+at, "date --utc +%Z"+at, "date --universal"+at,
			"date -r f", "date -r f +%s.%N", "date -r nosuch", "date --reference=f -R", "date -f dates", "date -f dates +%F", "date -f nosuch", "date -d x -f dates", "date -r f -d now", "date -d bogus", "date -R -I"+at, "date -R +%Y"+at, "date +%Y +%m", "date x"+at, "date x", "date 13010000", "date --bogus", "date -d", "date -d 2024-01-01 -d 2024-02-02", "date --resolution +%N", "date --resolution", "date +", "date -s 2024-01-01 -d now", "date -s bogus", "date -u -d '2024-01-01 00:00 EST'", "date +%s -d 1970-01-01", "date --debug -u -d @0 +%F 2x", "date -I -d @0 -u", "date --date='2024-01-01 12:00' +%H:%M", "date --date 2024-01-01 +%A")...)
	rows = append(rows, programtest.Row{Line: "date -d '2024-07-01 12:00 UTC'", Env: []string{"TZ=America/New_York"}}, programtest.Row{Line: "date -d '2024-07-01 12:00' -u", Env: []string{"TZ=America/New_York"}}, programtest.Row{Line: "date -d @0", Env: []string{"TZ=Asia/Kolkata"}}, programtest.Row{Line: "date -d @0 +%Z%z", Env: []string{"TZ=EST5EDT"}}, programtest.Row{Line: "date -d @0 +%Z%z", Env: []string{"TZ=Nonsense/Zone"}}, programtest.Row{Line: "date -d @0 +%Z%z", Env: []string{"TZ="}}, programtest.Row{Line: "date -f - +%F", Stdin: "2024-01-01\n@0\n"}, programtest.Row{Line: "date -Iseconds -d @1700000000", Env: []string{"TZ=Australia/Lord_Howe"}})
	programtest.RunRows(t, rows)
}
