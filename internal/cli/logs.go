package cli

import (
	"io"

	"github.com/spf13/cobra"
)

func newLogs(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:               "logs [flags] NAME",
		Short:             "print what happened in a sandbox",
		Long:              "Its starts and ends, its commands and what was refused, a line each.",
		Example:           "agent-sandbox logs work",
		ValidArgsFunction: a.completeNames(),
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := a.findKept(args[0], at)
			if err == nil {
				_, err = k.record(cmd.Context())
			}
			if err != nil {
				return err
			}
			log, err := k.Log(cmd.Context(), k.name)
			if err != nil {
				return err
			}
			defer log.Close()
			_, err = io.Copy(a.out, log)
			return err
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}
