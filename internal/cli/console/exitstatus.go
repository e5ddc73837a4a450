package console

// The EXIT STATUS sections of the help.
const (
	ExitSimple = `  0    done
  125  something went wrong`
	ExitLimited = `  0    done
  124  the time of --timeout passed
  125  something went wrong`
	ExitExec = `  N    the command's own exit status; 128+n when signal n killed it
  124  the wall-clock limit passed
  125  the sandbox could not be created, or failed
  126  the command cannot be executed
  127  the command does not exist in the sandbox
  130  interrupted`
)
