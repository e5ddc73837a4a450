//go:build linux

package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// newestCall is the highest system call number that this table covers: rseq_slice_yield,
// in the unified numbering that both architectures share from 424 on.
const newestCall = 471

// callTable contains the system call numbers of one architecture.
type callTable struct {
	audit  uint32 // AUDIT_ARCH_* of struct seccomp_data
	column int    // in callNumbers
}

// callTableOf returns the table for a Go architecture name. Programs for each
// architecture can be made on any other, so the tables do not depend on the build.
func callTableOf(arch string) (callTable, error) {
	switch arch {
	case "amd64":
		return callTable{unix.AUDIT_ARCH_X86_64, 0}, nil
	case "arm64":
		return callTable{unix.AUDIT_ARCH_AARCH64, 1}, nil
	}
	return callTable{}, fmt.Errorf("no system call table for %q", arch)
}

// number returns the number of a call; false: the architecture does not have it. A name
// without a table entry is a bug of this package.
func (t callTable) number(name string) (nr uint32, ok bool, err error) {
	row, known := callNumbers[name]
	if !known {
		return 0, false, fmt.Errorf("system call %q is in no table", name)
	}
	return uint32(row[t.column]), row[t.column] >= 0, nil
}

// callNumbers holds the calls that a program names: x86-64, then arm64; -1 where
// the architecture has no such call.
var callNumbers = map[string][2]int{
	"acct":               {163, 89},
	"add_key":            {248, 217},
	"adjtimex":           {159, 171},
	"bind":               {49, 200},
	"bpf":                {321, 280},
	"chmod":              {90, -1},
	"clock_adjtime":      {305, 266},
	"clock_settime":      {227, 112},
	"clone":              {56, 220},
	"clone3":             {435, 435},
	"connect":            {42, 203},
	"creat":              {85, -1},
	"delete_module":      {176, 106},
	"execve":             {59, 221},
	"execveat":           {322, 281},
	"fanotify_init":      {300, 262},
	"fchmod":             {91, 52},
	"fchmodat":           {268, 53},
	"fchmodat2":          {452, 452},
	"fcntl":              {72, 25},
	"finit_module":       {313, 273},
	"fsconfig":           {431, 431},
	"fsmount":            {432, 432},
	"fsopen":             {430, 430},
	"fspick":             {433, 433},
	"getpeername":        {52, 205},
	"getsockname":        {51, 204},
	"init_module":        {175, 105},
	"io_uring_enter":     {426, 426},
	"io_uring_register":  {427, 427},
	"io_uring_setup":     {425, 425},
	"ioctl":              {16, 29},
	"ioperm":             {173, -1},
	"iopl":               {172, -1},
	"ioprio_set":         {251, 30},
	"kcmp":               {312, 272},
	"kexec_file_load":    {320, 294},
	"kexec_load":         {246, 104},
	"keyctl":             {250, 219},
	"link":               {86, -1},
	"linkat":             {265, 37},
	"lookup_dcookie":     {212, 18},
	"mkdir":              {83, -1},
	"mkdirat":            {258, 34},
	"mknod":              {133, -1},
	"mknodat":            {259, 33},
	"modify_ldt":         {154, -1},
	"mount":              {165, 40},
	"mount_setattr":      {442, 442},
	"move_mount":         {429, 429},
	"nfsservctl":         {180, 42},
	"open":               {2, -1},
	"open_by_handle_at":  {304, 265},
	"open_tree":          {428, 428},
	"open_tree_attr":     {467, 467},
	"openat":             {257, 56},
	"openat2":            {437, 437},
	"perf_event_open":    {298, 241},
	"personality":        {135, 92},
	"pidfd_getfd":        {438, 438},
	"pivot_root":         {155, 41},
	"prctl":              {157, 167},
	"prlimit64":          {302, 261},
	"process_vm_readv":   {310, 270},
	"process_vm_writev":  {311, 271},
	"ptrace":             {101, 117},
	"quotactl":           {179, 60},
	"quotactl_fd":        {443, 443},
	"reboot":             {169, 142},
	"rename":             {82, -1},
	"renameat":           {264, 38},
	"renameat2":          {316, 276},
	"request_key":        {249, 218},
	"rmdir":              {84, -1},
	"sched_setaffinity":  {203, 122},
	"sched_setattr":      {314, 274},
	"sched_setparam":     {142, 118},
	"sched_setscheduler": {144, 119},
	"setdomainname":      {171, 162},
	"sethostname":        {170, 161},
	"setns":              {308, 268},
	"setpriority":        {141, 140},
	"setrlimit":          {160, 164},
	"setsockopt":         {54, 208},
	"settimeofday":       {164, 170},
	"socket":             {41, 198},
	"socketpair":         {53, 199},
	"swapoff":            {168, 225},
	"swapon":             {167, 224},
	"symlink":            {88, -1},
	"symlinkat":          {266, 36},
	"syslog":             {103, 116},
	"umask":              {95, 166},
	"umount2":            {166, 39},
	"unlink":             {87, -1},
	"unlinkat":           {263, 35},
	"unshare":            {272, 97},
	"uselib":             {134, -1},
	"userfaultfd":        {323, 282},
	"vhangup":            {153, 58},
}
