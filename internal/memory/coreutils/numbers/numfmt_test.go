package numbers_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
)

func Test_Numfmt_Does_As_The_Real_One(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{
		"units": {
			"numfmt --to=si 5", "numfmt --to=si 0 999 1000 1001 9999 10000 999999 1000000 -5000 -9999", "numfmt --to=iec 1023 1024 1025 10239 10240 1048575 1048576 1234567890123", "numfmt --to=iec-i 1023 1024 1025 99999 1048576", "numfmt --from=si 5K 1.5M 2G -3T 1P 1E", "numfmt --from=iec 5K 1.5M 2G -3T", "numfmt --from=iec-i 5Ki 1.5Mi 2Gi", "numfmt --from=auto 5Ki 5K 1M 1Mi",
			"numfmt --from=auto --to=iec-i 5K 5Ki 3G", "numfmt --from=si --to=iec 1M 9.9G 99Y", "numfmt --from=iec --to=si 1M 9.9G 99Y", "numfmt --from=si --to=si 99999Y", "numfmt --from=si --to=si 9999999Y", "numfmt --to=none 5", "numfmt --from-unit=512 --to=iec 100 2048", "numfmt --to-unit=K 5000 5499 5500", "numfmt --to-unit=Ki 5000", "numfmt --to-unit=1Ki 5000", "numfmt --from-unit=2K --to-unit=3M 7",
			"numfmt --to-unit=0 5", "numfmt --to-unit=KB 5", "numfmt --to-unit=KiB 5", "numfmt --to-unit=x 5", "numfmt --to-unit=i 5", "numfmt --to-unit=5i 5", "numfmt --to-unit=k 5", "numfmt --to-unit= 5", "numfmt --from-unit=1.5 5", "numfmt --from-unit=-1 5", "numfmt --from-unit=+2 5", "numfmt --from-unit=E --to=si 5", "numfmt --from-unit=Z 5", "numfmt --from-unit=Kii 5", "numfmt --from-unit=99999999999999999999 5",
		},
		"rounding": {
			"numfmt --to=si --round=up -- 1234 -1234 99999 999999 -999999", "numfmt --to=si --round=down -- 1234 -1234 99999 -99999", "numfmt --to=si --round=from-zero -- 1234 -1234 1200", "numfmt --to=si --round=towards-zero -- 1234 -1234 999999", "numfmt --to=si --round=nearest -- 1250 1249 -1250 99949 99950", "numfmt --round=n --to=iec 1234567", "numfmt --round=q 1", "numfmt --round= 1",
			"numfmt --format=%.1f 1.25 1.35 -1.25", "numfmt --format=%.0f 1.5 2.5 0.1 -0.1", "numfmt --round=nearest --format=%.1f 1.25 1.35 -1.25 0.05", "numfmt --round=up --format=%.2f -- 1.001 -1.009", "numfmt --to=si --format=%.3f 1234567 12 1000 999999999", "numfmt --to=iec --format=%.2f 1234567 12 1000 1e3", "numfmt --to-unit=3 10", "numfmt --to-unit=3 --format=%.5f 10 20", "numfmt --from=si 1.2345K 0.1K", "numfmt 1.50 0.00 -0 -0.5 007",
		},
		"formats": {
			"numfmt --format=%f 5", "numfmt --format='%10f|' 5 -5", "numfmt --format='%-10f|' 5", "numfmt --format='%010f|' 5 -5", "numfmt --format=\"%'f\" 12345", "numfmt --format='%  8f|' 5", "numfmt --format='%0-9f|' 5", "numfmt --format='a%fb' 5", "numfmt --format='%%x%fy%%z' 5", "numfmt --format='a%%%fb' 5", "numfmt --format=%x 5", "numfmt --format=%5 5", "numfmt --format=% 5", "numfmt --format=%f%d 5", "numfmt --format=x 5", "numfmt --format= 5", "numfmt --format=%% 5", "numfmt --format=%f%% 5",
			"numfmt --format=%.-1f 5", "numfmt --format=%.+1f 5", "numfmt --format='%. 1f' 5", "numfmt --format=%.f 5.5", "numfmt --format=%.99999999999999999999f 5", "numfmt --format=%99999999999999999999f 5", "numfmt --format=%.3 5", "numfmt --format=%--3f 5", "numfmt --format=%.19f 5", "numfmt --format=%.3f --to=si 5000", "numfmt --format=%0200f 5", "numfmt --format=%.200f --to=si 5", "numfmt --format=%.5f 99999999999999999", "numfmt --format=%08.2f --to=si -- 5000 -5000", "numfmt --format=%8f --padding=3 --debug 5", "numfmt --format=%08f --padding=12 --debug 5", "numfmt --format=%8f --suffix=B 5",
			"numfmt --padding=8 5", "numfmt --padding=-8 5 x", "numfmt --padding=0 4", "numfmt --padding=x 4", "numfmt --padding=3K 3", "numfmt --padding=+3 3", "numfmt --padding=99999999999999999999 3", "numfmt --padding=2 12345", "numfmt --suffix=b 5b", "numfmt --suffix=b 5", "numfmt --suffix=b b", "numfmt --suffix=b xb", "numfmt --suffix=b --invalid=fail xb", "numfmt --to=si --suffix=B 5000B 70", "numfmt --grouping 12345", "numfmt --grouping --format=%f 4", "numfmt --grouping --to=si 4",
		},
		"wrong numbers": {
			"numfmt 5K", "numfmt --from=si 5x", "numfmt --from=si 5Kx", "numfmt --from=si 5k", "numfmt --from=iec-i 5K", "numfmt --from=iec-i 5Kiz", "numfmt --from=auto 5Kib", "numfmt 1e3", "numfmt ''", "numfmt ' '", "numfmt x", "numfmt -- -", "numfmt .", "numfmt .5 -- -.5", "numfmt 5.", "numfmt 5..", "numfmt 5.-5", "numfmt 5.-", "numfmt 5,5", "numfmt +5", "numfmt 0x10", "numfmt -5", "numfmt -d, '5 K'", "numfmt --from=si -d, '5 K'", "numfmt -d, '5 '", "numfmt nan",
			"numfmt 99999999999999999999999999999999999", "numfmt 9999999999999999999", "numfmt 99999999999999999999", "numfmt --debug 9999999999999999999", "numfmt --to=si 9999999999999999999", "numfmt --to=si 999999999999999999999999999999999", "numfmt --to=si 99999999999999999999999999999999", "numfmt 1.123456789012345678901", "numfmt 0.12345678901234567", "numfmt 12345678901234567.5", "numfmt --invalid=abort 5 x 6", "numfmt --invalid=fail 5 x 6", "numfmt --invalid=warn 5 x 6", "numfmt --invalid=ignore 5 x 6", "numfmt --invalid=fail --debug x 5", "numfmt --invalid=ignore --debug x", "numfmt --invalid=z 4",
		},
		"options": {
			"numfmt --to=x 5", "numfmt --from=x 5", "numfmt --to=auto 5", "numfmt --to 5", "numfmt --f 4", "numfmt --fi=1 4", "numfmt -z 4", "numfmt -d ab 4", "numfmt --header=0 4", "numfmt --header=x 4", "numfmt --header=-1 4", "numfmt --header --debug 5", "numfmt --debug 4", "numfmt --debug --grouping 44444", "numfmt --field=0 4", "numfmt --field=1 --field=2 4", "numfmt --field=3-1 4", "numfmt --field=x 4", "numfmt --field=- --to=si '4000 5000 x6'", "numfmt --foo", "numfmt -x",
			"numfmt -d, --field=2- --to=si 1,2000,3000", "numfmt -d '' --to=si 1000", "numfmt --field=1,3 --to=si '1000 2000   3000 4000'", "numfmt --field=2 --to=si '1000    2000    3000'", "numfmt -d, --field=2 ,,", "numfmt -d, --field=2 --to=si '1, 5000,3'", "numfmt -d, --padding=7 --field=2 1,2,3",
		},
	}
	for name, lines := range groups {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			programtest.RunReadOnly(t, "", programtest.TextRows(lines))
		})
	}
}

func Test_Numfmt_Reads_Lines_As_The_Real_One(t *testing.T) {
	t.Parallel()
	const table = "Size Used Name\n  1000   2000\tfile a\n999999 5 x\n\n-1 -2 -3"
	var rows []programtest.Row
	for _, line := range []string{
		"numfmt --header --to=si", "numfmt --to=si", "numfmt --header=2 --to=si", "numfmt --header=99", "numfmt --header --field=2 --to=iec", "numfmt --header --field=1-2 --to=iec", "numfmt --header --field=1-2 --to=iec --padding=10", "numfmt --header --field=- --invalid=warn --to=si", "numfmt --header --field=2- --invalid=ignore --to=si", "numfmt --invalid=fail --to=si", "numfmt --invalid=fail --debug --to=si", "numfmt -z --to=si --invalid=warn", "numfmt -d ' ' --header --field=1 --to=si --invalid=fail",
	} {
		rows = append(rows, programtest.Row{Line: line, Stdin: table})
	}
	rows = append(rows, programtest.Row{Line: "numfmt --to=si", Stdin: "1000\x00x\n2000"}, programtest.Row{Line: "numfmt -z --to=si", Stdin: "1000\x002000\x00\n3000"},
		programtest.Row{Line: "numfmt --header --to=si", Stdin: "a\x00b\n5000\n"}, programtest.Row{Line: "numfmt --to=si", Stdin: ""}, programtest.Row{Line: "numfmt --to=si", Stdin: "5000 \n 5000\n\t70000\n"},
		programtest.Row{Line: "numfmt -z --header", Stdin: "a\x001\x00"}, programtest.Row{Line: "numfmt --to=si --round=up --from=si", Stdin: "999.99Y\n99Y"}, programtest.Row{Line: "numfmt --to=si", Stdin: "\n"})
	programtest.RunReadOnly(t, "", rows)
}
