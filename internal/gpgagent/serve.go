package gpgagent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agentsocket"
)

// maxAnswer is the size of the largest answer of the agent: a list of keys, or a signature.
const maxAnswer = 1 << 20

// Assuan's error codes (gpg-error.h), with the source GPG Agent.
const (
	forbidden = "ERR 67109115 Forbidden <agent-sandbox>"
	noAgent   = "ERR 67108941 No agent running <agent-sandbox>"
)

var (
	errTooLong = errors.New("the line is too long")
	errAnswer  = errors.New("the agent's answer is too long or is not one")
)

// Options configure Serve.
type Options struct {
	agentsocket.Options

	Session []string // the options that each connection to the agent sets first, such as "display=:0"
}

// Serve answers those who connect to l until ctx ends or l fails. Requests that list keys and those that sign go to the user's agent,
// and all others fail without reaching it. Each connection has one of its own to the agent, from its first permitted request on. Serve
// closes l, and returns when all connections are closed.
func Serve(ctx context.Context, l net.Listener, o Options) {
	agentsocket.Serve(ctx, l, o.Dial, func(ctx context.Context, conn *agentsocket.Conn) {
		c := connection{Conn: conn, options: o, inside: bufio.NewReaderSize(conn.Inside, maxLine+2)}
		c.serve(ctx)
	})
}

// connection is that of one client.
type connection struct {
	*agentsocket.Conn
	options Options
	inside  *bufio.Reader
	agent   *bufio.Reader // nil before the first request that passes
}

// serve answers until the client ends or breaks the protocol, or the agent does.
func (c *connection) serve(ctx context.Context) {
	if c.write([]byte("OK agent-sandbox\n")) != nil {
		return
	}
	for {
		line, err := c.read()
		if err != nil {
			return
		}
		answer, last := []byte("OK\n"), false
		switch judge(line) {
		case refuse:
			if line == "" || strings.HasPrefix(line, "#") {
				continue // a comment has no answer
			}
			c.options.Refused(describe(line))
			answer = []byte(forbidden + "\n")
		case pass:
			if strings.HasPrefix(line, "SETKEYDESC ") {
				line = describeKey(line)
			}
			if answer, err = c.ask(ctx, line); err != nil {
				return
			}
		case accept:
		case end:
			last = true
		}
		if c.write(answer) != nil || last {
			return
		}
	}
}

func (c *connection) write(data []byte) error {
	if err := c.Inside.SetWriteDeadline(time.Now().Add(agentsocket.TransferTime)); err != nil {
		return err
	}
	_, err := c.Inside.Write(data)
	return err
}

// read waits for a line without a limit, and reads the rest of one that has begun within TransferTime.
func (c *connection) read() (string, error) {
	if err := c.Inside.SetReadDeadline(time.Time{}); err != nil {
		return "", err
	}
	if _, err := c.inside.Peek(1); err != nil {
		return "", err
	}
	if err := c.Inside.SetReadDeadline(time.Now().Add(agentsocket.TransferTime)); err != nil {
		return "", err
	}
	line, err := readLine(c.inside)
	return string(line), err
}

// readLine returns a line without its end. It is valid until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errTooLong
		}
		return nil, err
	}
	line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
	if len(line) > maxLine {
		return nil, errTooLong
	}
	return line, nil
}

// ask sends a request to the agent and returns its answer, or an error line if it cannot connect to the agent.
func (c *connection) ask(ctx context.Context, line string) ([]byte, error) {
	conn, err := c.Agent(ctx)
	if err != nil || conn == nil {
		return []byte(noAgent + "\n"), err
	}
	if c.agent == nil {
		c.agent = bufio.NewReaderSize(conn, maxLine+2)
		if err := c.greet(conn); err != nil {
			return nil, err
		}
	}
	return c.exchange(conn, line)
}

// greet reads the agent's greeting and sets the options of the session. An option that the agent does not take is left out.
func (c *connection) greet(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(agentsocket.AnswerTime)); err != nil {
		return err
	}
	if _, err := c.answer(conn); err != nil {
		return err
	}
	for _, option := range checkOptions(c.options.Session) {
		if _, err := c.exchange(conn, "OPTION "+option); err != nil {
			return err
		}
	}
	return nil
}

func (c *connection) exchange(conn net.Conn, line string) ([]byte, error) {
	if err := conn.SetDeadline(time.Now().Add(agentsocket.AnswerTime)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		return nil, err
	}
	return c.answer(conn)
}

// answer reads the lines of an answer, the last of which is OK or ERR. A question of the agent is cancelled: no permitted request has one
// that a command may answer.
func (c *connection) answer(conn net.Conn) ([]byte, error) {
	var all []byte
	for {
		line, err := readLine(c.agent)
		if err != nil {
			return nil, err
		}
		word, _, _ := strings.Cut(string(line), " ")
		switch word {
		case "INQUIRE":
			if _, err := io.WriteString(conn, "CAN\n"); err != nil {
				return nil, err
			}
			continue
		case "OK", "ERR", "S", "D":
			all = append(append(all, line...), '\n')
		default:
			if !strings.HasPrefix(word, "#") {
				return nil, errAnswer
			}
		}
		if len(all) > maxAnswer {
			return nil, errAnswer
		}
		if word == "OK" || word == "ERR" {
			return all, nil
		}
	}
}
