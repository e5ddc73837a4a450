package shell

import (
	"sync"
	"sync/atomic"
)

// symbols numbers the names of variables and functions: closures hold the numbers.
// Forked machines share them.
type symbols struct {
	mu    sync.RWMutex
	slots map[string]int
	names []string

	weight atomic.Int64 // bytes of all names, about
}

func newSymbols() *symbols { return &symbols{slots: map[string]int{}} }

// slot returns the number of a name, a new one when it has none.
func (s *symbols) slot(name string) int {
	s.mu.RLock()
	n, ok := s.slots[name]
	s.mu.RUnlock()
	if ok {
		return n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.slots[name]; ok {
		return n
	}
	n = len(s.names)
	s.slots[name] = n
	s.names = append(s.names, name)
	s.weight.Add(int64(nameWeight + len(name)))
	return n
}

// known returns the number of a name, -1 when nothing has that name.
func (s *symbols) known(name string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n, ok := s.slots[name]; ok {
		return n
	}
	return -1
}

func (s *symbols) name(slot int) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.names[slot]
}

// The first slots are names that the engine itself reads.
const (
	slotIFS = iota
	slotPATH
	slotHOME
	slotPWD
	slotOLDPWD
	slotOPTIND
	slotOPTARG
	slotOPTERR
	slotREPLY
	slotPS4
	slotCDPATH
	slotGLOBIGNORE
	slotFUNCNEST
	slotTIMEFORMAT
	slotBASHREMATCH
	slotCOPROC
	slotPOSIXLY
	slotHISTCONTROL
	slotPS3
	slotSHLVL
	slotTMOUT
	slotBASHENV
	slotMAPFILE
	slotSHELLOPTS
	slotBASHOPTS
	slotDIRSTACK
	slotIGNOREEOF
	slotUnderscore
	slotExecIgnore
	slotPS2
	slotLCALL
	slotLCCTYPE
	slotLANG
	slotExecutionString
)

var firstNames = []string{
	"IFS", "PATH", "HOME", "PWD", "OLDPWD", "OPTIND", "OPTARG", "OPTERR", "REPLY", "PS4", "CDPATH",
	"GLOBIGNORE", "FUNCNEST", "TIMEFORMAT", "BASH_REMATCH", "COPROC", "POSIXLY_CORRECT", "HISTCONTROL",
	"PS3", "SHLVL", "TMOUT", "BASH_ENV", "MAPFILE", "SHELLOPTS", "BASHOPTS", "DIRSTACK", "IGNOREEOF", "_",
	"EXECIGNORE", "PS2", "LC_ALL", "LC_CTYPE", "LANG",
	"BASH_EXECUTION_STRING",
}
