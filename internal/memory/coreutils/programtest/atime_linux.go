package programtest

import (
	"syscall"
	"time"
)

// accessed returns when a file was read last.
func accessed(st *syscall.Stat_t) time.Time { return time.Unix(st.Atim.Unix()) }

// changed returns when the content or the attributes of a file changed last.
func changed(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }
