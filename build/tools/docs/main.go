// Command docs builds documentation from the Markdown files of the project:
//
//	docs site -o DIR                          the pages as HTML with search
//	docs picture -program FILE -o FILE.svg    a terminal with real output, for the README
//
// It runs in the top directory of the project.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: docs site|picture [flags]")
	}
	flags := flag.NewFlagSet("docs "+args[0], flag.ContinueOnError)
	out := flags.String("o", "", "where the result is written")
	program := flags.String("program", "bin/agent-sandbox", "the program that picture runs")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "site":
		return writeSite(".", *out)
	case "picture":
		return writePicture(*program, *out)
	}
	return fmt.Errorf("unknown command %q; expected site or picture", args[0])
}
