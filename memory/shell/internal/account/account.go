// Package account counts the memory that a process of the shell holds.
package account

// Bank has the memory of a machine. Take counts n more bytes, or fewer when n is negative; false means that there are
// not as many, and counts nothing.
type Bank interface {
	Take(n int) bool
}

// batch is the number of bytes that an account collects before it asks the bank.
const batch = 1 << 14

// Account counts the bytes of one process; the zero value has none.
type Account struct {
	pending   int // charged, and not yet taken from the bank
	taken     int // taken from the bank
	inherited int // counted by the parent, whose memory this process sees
	held      int // of the commands that run, among those above
}

// Charge counts n more bytes, or fewer when n is negative. False: the bank has not as many, and nothing was counted.
func (a *Account) Charge(n int, bank Bank) bool {
	a.pending += n
	if a.pending < batch && a.pending > -batch {
		return true
	}
	if bank.Take(a.pending) {
		a.taken += a.pending
		a.pending = 0
		return true
	}
	a.pending -= n
	return false
}

// Hold notes that n charged bytes belong to the commands that run.
func (a *Account) Hold(n int) { a.held += n }

// Held returns how many bytes the running commands hold.
func (a *Account) Held() int { return a.held }

// SetHeld notes that the running commands hold n bytes.
func (a *Account) SetHeld(n int) { a.held = n }

// Receive counts n bytes for the running command that another account has taken from the bank.
func (a *Account) Receive(n int) {
	a.taken += n
	a.held += n
}

// Taken returns how many bytes the process gives back to the bank when it ends.
func (a *Account) Taken() int { return a.taken }

// Total returns all bytes that the process sees.
func (a *Account) Total() int { return a.inherited + a.taken + a.pending }

// Child returns the account of a child for which the process waits: it sees the memory, which counts once.
func (a *Account) Child() Account { return Account{inherited: a.Total()} }

// Concurrent returns the account of a child that runs at the same time. It holds the memory even when the process
// changes it, so the bank must count it once more. The own bytes are
// those of the process that the child does not get.
func (a *Account) Concurrent(own int) Account { return Account{taken: a.Total() - own} }
