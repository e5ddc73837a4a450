package assistants

import (
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// runFlags are the flags of agent run.
type runFlags struct {
	root, user, chat, work, backend, locale, connector string
	attach                                             []string
	json, thinking, wait, verbose                      bool
}

func newAgentRun(a *console.App) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] NAME [PROMPT...]",
		Short: "run an assistant",
		Long: `The assistant's package decides whether its model answers directly, or a coding agent in
a sandbox. The prompt is PROMPT, or standard input, or both: then standard input is added
to PROMPT. A terminal shows all events as they occur, with the agent's text indented;
otherwise stdout has only the answer, and stderr the rest.

An agent works in a workspace that is stored with the chat, or in --work DIR. Keys stay
outside: an agent in a sandbox has a placeholder, and can reach only its model.
Ctrl-C interrupts the request, whose cost is recorded; a second Ctrl-C kills the agent.

` + rootText,
		Example: `agent-sandbox agent run qa "what is a monad?"
git diff | agent-sandbox agent run coder --work . "review this"
agent-sandbox agent run coder --chat 01J8Z0 --attach trace.log "why does it fail?"
agent-sandbox agent run coder --json "fix the test" | jq 'select(.type == "response").response.usage'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.UsageError(cmd.CommandPath(), "run takes the name of an assistant and a prompt")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.user == "" {
				f.user = userName(a)
			}
			return runAssistant(cmd.Context(), a, args[0], strings.Join(args[1:], " "), f)
		},
		ValidArgsFunction: completeAssistants(a, &f.root),
	}
	addRootFlag(cmd, &f.root)
	flags := cmd.Flags()
	flags.StringVar(&f.chat, "chat", "", "continue the chat `ID`, or begin one with this ID")
	flags.StringArrayVar(&f.attach, "attach", nil, "attach `FILE`; may be repeated")
	flags.StringVar(&f.work, "work", "", "let it work on `DIR` instead of the chat's own workspace")
	flags.StringVar(&f.backend, "backend", "", "the backend `NAME`: bwrap, docker or kube")
	flags.StringVar(&f.connector, "connector", "", "use the connector `NAME` instead of the assistant's, such as\ndeepseek.r1 or deepseek/r1")
	flags.StringVar(&f.user, "user", "", "ask for `USER`, to whom it is booked (default: the user of this process)")
	flags.StringVar(&f.locale, "locale", "", "the `LOCALE` that hooks get, such as de-DE")
	flags.BoolVar(&f.wait, "wait", false, "wait while another request uses the chat, instead of failing")
	flags.BoolVar(&f.json, "json", false, "print events as JSON lines, the response last")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "also print the steps of the request, and all that hooks log")
	flags.BoolVar(&f.thinking, "thinking", false, "also print what the model thought")
	return console.Describe(cmd, `  0    it answered
  1    it failed, or was interrupted before it had an answer
  125  something went wrong before it began
  130  interrupted`)
}

// userName returns the name of the user who runs this process.
func userName(a *console.App) string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return console.Lookup(a.Env, "USER")
}
