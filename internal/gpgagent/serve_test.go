package gpgagent

import (
	"bufio"
	"context"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/agentsocket"
)

const grip = "37092143713D0B2AF3E79AE04BD425AFDE448655"

func Test_Only_Requests_That_List_And_Sign_Pass(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("A0", 32)
	for line, want := range map[string]verdict{
		"RESET": pass, "NOP": accept, "BYE": end,
		"GETINFO version": pass, "GETINFO restricted": pass, "GETINFO cmd_has_option GENKEY timestamp": pass,
		"GETINFO pid": refuse, "GETINFO socket_name": refuse, "GETINFO std_env_names": refuse, "GETINFO version x": refuse, "GETINFO jent_active": refuse,
		"HAVEKEY " + grip: pass, "HAVEKEY " + grip + " " + grip: pass, "HAVEKEY --list=1000": pass, "HAVEKEY --info " + grip: refuse,
		"KEYINFO " + grip: pass, "KEYINFO --list": pass, "KEYINFO --list --with-ssh": refuse, "KEYINFO ../../x": refuse,
		"SIGKEY " + grip: pass, "SETKEY " + grip: refuse, "SIGKEY --another " + grip: refuse,
		"SETKEYDESC Please+enter": pass, "SETKEYDESC a b": refuse, "SETKEYDESC \x1b[2J": refuse,
		"SETHASH 8 " + hash: pass, "SETHASH --hash=sha256 " + hash: pass, "SETHASH 10 " + hash: refuse, "SETHASH 8 A0": refuse,
		"SETHASH 1 " + hash[:32]: refuse, "SETHASH --hash=tls-md5sha1 " + hash: refuse, "SETHASH --hash=none " + hash: refuse, "SETHASH --inquire": refuse, "SETHASH " + hash: refuse,
		"PKSIGN": pass, "PKSIGN -- 0A1B": pass, "PKSIGN --hash=sha1": refuse, "pksign": refuse,
		"OPTION ttyname=/dev/pts/0": accept, "OPTION putenv=LD_PRELOAD=x": accept, "OPTION allow-pinentry-notify": accept,
		"OPTION pinentry-mode=loopback": refuse, "OPTION use-cache-for-signing=1": refuse, "OPTION s2k-count=1": refuse,
		"PKDECRYPT": refuse, "EXPORT_KEY " + grip: refuse, "EXPORT_KEY --openpgp " + grip: refuse, "IMPORT_KEY": refuse, "KEYWRAP_KEY --export": refuse, "GENKEY": refuse,
		"DELETE_KEY " + grip: refuse, "PASSWD " + grip: refuse, "PRESET_PASSPHRASE " + grip + " -1": refuse, "GET_PASSPHRASE x x x x": refuse,
		"GET_CONFIRMATION x": refuse, "CLEAR_PASSPHRASE x": refuse, "SCD SERIALNO": refuse, "SCD APDU 00": refuse, "LEARN": refuse, "KEYTOCARD x": refuse,
		"KILLAGENT": refuse, "RELOADAGENT": refuse, "UPDATESTARTUPTTY": refuse, "LISTTRUSTED": refuse, "MARKTRUSTED x P x": refuse, "GETVAL x": refuse, "PUTVAL x y": refuse,
		"READKEY " + grip: refuse, "KEYATTR " + grip + " A": refuse, "HELP": refuse, "D x": refuse, "END": refuse, "CAN": refuse, "CANCEL": refuse, "": refuse, "# x": refuse,
		"PKSIGN\x00": refuse, "PKSIGN ": refuse, " PKSIGN": refuse, "NOP\nKILLAGENT": refuse, "NOP\r": refuse,
	} {
		if got := judge(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

// scene is a served agent and what reached the agent behind it.
type scene struct {
	path string
	stop func()

	mu               sync.Mutex
	reached, refused []string
}

// serve serves an agent that gives each request the answer of reply.
func serve(t *testing.T, reply func(line string) string) *scene {
	t.Helper()
	s := &scene{path: filepath.Join(t.TempDir(), "served")}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	o := Options{Session: []string{"display=:0", "ttytype=a\nKILLAGENT", "putenv=" + strings.Repeat("x", maxLine)}}
	o.Options = agentsocket.Options{
		Dial: func(context.Context) (net.Conn, error) {
			near, far := net.Pipe()
			working.Go(func() { s.answer(far, reply) })
			return near, nil
		},
		Refused: func(what string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, what)
		},
	}
	working.Go(func() { Serve(ctx, l, o) })
	s.stop = sync.OnceFunc(func() {
		cancel()
		working.Wait()
	})
	t.Cleanup(s.stop)
	return s
}

func (s *scene) answer(conn net.Conn, reply func(string) string) {
	defer conn.Close()
	_, _ = io.WriteString(conn, "OK Pleased to meet you\n")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		s.mu.Lock()
		s.reached = append(s.reached, lines.Text())
		s.mu.Unlock()
		if _, err := io.WriteString(conn, reply(lines.Text())); err != nil {
			return
		}
	}
}

// ask sends text and returns all that is answered until the end.
func (s *scene) ask(t *testing.T, text string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text) // the server may close before it has read all
	all, _ := io.ReadAll(conn)        // a server that closes with unread input resets the connection
	return string(all)
}

func Test_Requests_Reach_The_Agent_And_Refused_Ones_Do_Not(t *testing.T) {
	t.Parallel()
	s := serve(t, func(line string) string {
		if line == "PKSIGN" {
			return "S PROGRESS\nINQUIRE PINENTRY_LAUNCHED 1\nD (7:sig-val%0A)\nOK\n"
		}
		return "OK\n"
	})
	got := s.ask(t, "# a comment\nRESET\nOPTION ttyname=/etc/passwd\nKILLAGENT\nSIGKEY "+grip+"\r\nSETKEYDESC Unlock\nPKSIGN\nBYE\nRESET\n")
	s.stop()
	if want := "OK agent-sandbox\nOK\nOK\n" + forbidden + "\nOK\nOK\nS PROGRESS\nD (7:sig-val%0A)\nOK\nOK\n"; got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	want := []string{"OPTION display=:0", "RESET", "SIGKEY " + grip, descriptionOf + "Unlock", "PKSIGN", "CAN"}
	if !slices.Equal(s.reached, want) || !slices.Equal(s.refused, []string{"end the agent"}) {
		t.Errorf("reached %q, refused %q", s.reached, s.refused)
	}
}

func Test_Lines_And_Answers_Are_Bounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	s := serve(t, func(line string) string {
		if line == "RESET" {
			return strings.Repeat("D "+long[:900]+"\n", 1200) // the agent goes on without an end
		}
		return "D " + long + "\n"
	})
	for _, text := range []string{long, "NOP " + long + "\n", "RESET\n", "GETINFO version\n"} {
		if got := s.ask(t, text); got != "OK agent-sandbox\n" {
			t.Errorf("%.10q is answered with %d bytes: %.60q", text, len(got), got)
		}
	}
}

func Test_A_Description_Says_Who_Asks_And_Stays_One_Line(t *testing.T) {
	t.Parallel()
	for n := 900; n <= 990; n++ {
		got := describeKey("SETKEYDESC " + strings.Repeat("x", n-len(descriptionOf)) + strings.Repeat("%0A", 40))
		if len(got) > maxLine || !strings.HasPrefix(got, descriptionOf) {
			t.Fatalf("%d: %d bytes %q", n, len(got), got)
		}
		if i := strings.LastIndexByte(got, '%'); i > len(got)-3 {
			t.Fatalf("%d ends in a part of an escape: %q", n, got[i:])
		}
	}
}

func Fuzz_Judge(f *testing.F) {
	f.Add("SETHASH 8 A0")
	f.Add("KEYINFO " + grip)
	f.Fuzz(func(t *testing.T, line string) {
		if judge(line) != pass {
			return
		}
		word, _, _ := strings.Cut(line, " ")
		known := []string{"RESET", "GETINFO", "HAVEKEY", "KEYINFO", "SIGKEY", "SETKEYDESC", "SETHASH", "PKSIGN"}
		if !slices.Contains(known, word) || strings.ContainsAny(line, "\r\n\x00") || len(line) > maxLine+len("SETKEYDESC ") {
			t.Errorf("%q passes", line)
		}
	})
}
