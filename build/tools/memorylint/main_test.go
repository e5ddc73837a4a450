package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func Test_Loops_That_Ask_Nothing_Are_Reported(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), loops, "a")
}

func Test_Buffers_That_Are_Not_Charged_Are_Reported(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), buffers, "b")
}
