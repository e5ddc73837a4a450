package zone_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
)

// Test_Zones_Tell_The_Time_Of_The_C_Library asks date(1) for the time in each zone.
func Test_Zones_Tell_The_Time_Of_The_C_Library(t *testing.T) {
	t.Parallel()
	zones := []string{
		"", "UTC", "UTC0", "EST5EDT", "EST5", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0330>-3:30", "IST-5:30",
		"EST5EDT,M3.2.0,M11.1.0", "Foo/Bar", "nonsense", "AEST-10AEDT,M10.1.0,M4.1.0/3", ":Europe/Berlin",
		"America/New_York", "Asia/Tokyo", "Asia/Kolkata", "America/Sao_Paulo", "Europe/London", "Etc/GMT+5",
	}
	for _, tz := range zones {
		for _, unix := range []int64{0, 1_700_000_000, 1_720_000_000, 1_743_296_399, 1_743_296_400} {
			at := time.Unix(unix, 0)
			t.Run(tz+" at "+at.UTC().Format(time.RFC3339), func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), "date", "-d", "@"+strconv.FormatInt(unix, 10), "+%Y-%m-%d %H:%M:%S %z %Z")
				cmd.Env = []string{"LC_ALL=C", "TZ=" + tz}
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				want := strings.TrimSpace(string(out))
				if got := strings.TrimSpace(at.In(zone.Load(tz)).Format("2006-01-02 15:04:05 -0700 MST")); got != want {
					t.Errorf("it is %q, want %q", got, want)
				}
			})
		}
	}
}

func Test_Every_Zone_Can_Be_Read(t *testing.T) {
	t.Parallel()
	names := zone.Names()
	if len(names) < 400 {
		t.Fatalf("%d zones", len(names))
	}
	for _, name := range names {
		if loc := zone.Load(name); loc.String() != name && name != "UTC" {
			t.Errorf("%s is %s", name, loc)
		}
	}
}
