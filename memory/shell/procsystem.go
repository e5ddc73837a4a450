package shell

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Release is the version of the system that machines seem to run.
const Release = "6.1.0"

// systemNodes are what /proc tells of the machine, in the order of the names.
var systemNodes = sync.OnceValue(func() []procNode {
	constant := func(text string) func(*asker, *process.Process) (string, error) {
		return func(*asker, *process.Process) (string, error) { return text, nil }
	}
	list := []procNode{
		{name: "cpuinfo", text: constant("processor\t: 0\nvendor_id\t: virtual\nmodel name\t: virtual\ncpu cores\t: 1\n\n")},
		{name: "filesystems", text: constant("nodev\tproc\nnodev\ttmpfs\n")},
		{name: "loadavg", text: (*asker).loadAverage},
		{name: "meminfo", text: (*asker).memory},
		{name: "net/dev", text: constant(netDevices)},
		{name: "self", mode: procLink, target: (*asker).self},
		{name: "stat", text: (*asker).ticks},
		{name: "sys/kernel/hostname", text: func(a *asker, _ *process.Process) (string, error) { return a.sh.m.hostname + "\n", nil }},
		{name: "sys/kernel/osrelease", text: constant(Release + "\n")},
		{name: "sys/kernel/ostype", text: constant("Linux\n")},
		{name: "sys/kernel/pid_max", text: constant(strconv.Itoa(process.MaxPID+1) + "\n")},
		{name: "sys/kernel/random/boot_id", text: (*asker).bootID},
		{name: "sys/kernel/random/uuid", text: (*asker).uuid},
		{name: "sys/kernel/version", text: constant("#1 SMP\n")},
		{name: "uptime", text: (*asker).uptime},
		{name: "version", text: constant("Linux version " + Release + " (agent-sandbox in memory) #1 SMP\n")},
		{name: "mounts", mode: procLink, target: func(*asker, *process.Process) (string, error) { return "self/mounts", nil }},
	}
	return procNodes(list)
})

// procNodes sorts nodes, and gives files their mode.
func procNodes(list []procNode) []procNode {
	for i := range list {
		if list[i].mode == 0 {
			list[i].mode = procFile
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	return list
}

// netDevices is /proc/net/dev of a machine that reaches nothing.
const netDevices = "Inter-|   Receive                                                |  Transmit\n" +
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n" +
	"    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0\n"

func (a *asker) self(*process.Process) (string, error) { return strconv.Itoa(a.process().PID), nil }

// age is how long the machine has been there.
func (m *machine) age() time.Duration { return max(0, m.now().Sub(m.born)) }

// ticks is the clock of the process table: hundredths of a second since the machine began.
func (m *machine) ticks() int64 { return int64(m.age() / (10 * time.Millisecond)) }

// uptime says that the machine was idle all the time: what scripts do is not measured in time.
func (a *asker) uptime(*process.Process) (string, error) {
	s := seconds(a.sh.m.age())
	return s + " " + s + "\n", nil
}

func (a *asker) loadAverage(*process.Process) (string, error) {
	running, all, last := a.sh.m.table.Load()
	return fmt.Sprintf("0.00 0.00 0.00 %d/%d %d\n", running, all, last), nil
}

func (a *asker) ticks(*process.Process) (string, error) {
	m := a.sh.m
	_, _, last := m.table.Load()
	idle := int64(max(0, m.now().Sub(m.born)) / (10 * time.Millisecond))
	cpu := fmt.Sprintf(" 0 0 0 %d 0 0 0 0 0 0\n", idle)
	return "cpu " + cpu + "cpu0" + cpu + fmt.Sprintf("intr 0\nctxt 0\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
		m.born.Unix(), last), nil
}

// memory is what the machine's limit leaves for variables and buffers: files count elsewhere.
func (a *asker) memory(*process.Process) (string, error) {
	m := a.sh.m
	total := min(m.limits.Bytes, 1<<50)
	used := min(max(0, m.bytes.Load()), total)
	var b strings.Builder
	for _, row := range []struct {
		name  string
		bytes int64
	}{
		{"MemTotal", total},
		{"MemFree", total - used},
		{"MemAvailable", total - used},
		{"Buffers", 0},
		{"Cached", 0},
		{"SwapCached", 0},
		{"Active", used},
		{"Inactive", 0},
		{"SwapTotal", 0},
		{"SwapFree", 0},
		{"Dirty", 0},
		{"Shmem", 0},
	} {
		fmt.Fprintf(&b, "%-15s %8d kB\n", row.name+":", row.bytes>>10)
	}
	return b.String(), nil
}

// uuid is another one each time; with a fixed seed of the machine, the same ones in each run.
func (a *asker) uuid(*process.Process) (string, error) {
	r := a.sh.m.newRand()
	return formatUUID(r.Uint64(), r.Uint64()), nil
}

// bootID is one number for as long as the machine lives.
func (a *asker) bootID(*process.Process) (string, error) {
	n := uint64(a.sh.m.born.UnixNano())
	return formatUUID(n*0x9e3779b97f4a7c15, n*0xbf58476d1ce4e5b9), nil
}

// formatUUID writes random bits as a UUID of version 4.
func formatUUID(hi, lo uint64) string {
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x\n", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

// mounts lists what the machine's files are made of.
func (a *asker) mounts(*process.Process) (string, error) {
	var b strings.Builder
	b.WriteString("none / tmpfs rw,relatime 0 0\nproc /proc proc rw,relatime 0 0\n")
	for _, m := range a.sh.m.fs.Mounts() {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		b.WriteString("none " + mountName(m.Path) + " tmpfs " + mode + ",relatime 0 0\n")
	}
	return b.String(), nil
}

// mountName writes a path as fstab(5) has it.
func mountName(path string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(path)
}

var _ vfs.Generated = (*asker)(nil)
