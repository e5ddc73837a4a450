package strftime_test

import (
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
)

func Test_Times_Are_Written_As_Date_And_The_C_Library_Do(t *testing.T) {
	t.Parallel()
	early := time.Date(987, 2, 3, 4, 5, 6, 789, time.UTC)
	for _, r := range []struct{ format, date, libc string }{
		{"%Y-%m-%d %H:%M:%S", "0987-02-03 04:05:06", "987-02-03 04:05:06"},
		{"%F %G %C", "0987-02-03 0987 09", "987-02-03 987 9"},
		{"%c", "Sat Feb  3 04:05:06 0987", "Sat Feb  3 04:05:06 987"},
		{"%a %A %b %B %p %P", "Sat Saturday Feb February AM am", "Sat Saturday Feb February AM am"},
		{"%-d|%_d|%0e|%^a|%#Z", "3| 3|03|SAT|utc", "3| 3|03|SAT|utc"},
		{"%5d|%-5d|%_5H|%5a", "00003|3|    4|  Sat", "00003|    3|    4|  Sat"},
		{"%j %U %V %W %u %w", "034 04 05 05 6 6", "034 04 05 05 6 6"},
		{"%N %q", "000000789 1", "%N %q"},
		{"%z %:z %+4Y", "+0000 +00:00 0987", "+0000 %:z %+4Y"},
		{"%Ey %Od %ET %OT", "87 03 %ET %OT", "87 03 04:05:06 04:05:06"},
		{"%% %J %-J %", "% %J %-J %", "% %J %-J %"},
		{"%n%t", "\n\t", "\n\t"},
	} {
		if got := strftime.Format(r.format, early); got != r.date {
			t.Errorf("Format(%q) is %q, want %q", r.format, got, r.date)
		}
		if got := strftime.FormatC(r.format, early); got != r.libc {
			t.Errorf("FormatC(%q) is %q, want %q", r.format, got, r.libc)
		}
	}
}
