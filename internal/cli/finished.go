package cli

// remarkFinished says what of an earlier run was finished.
func (a *app) remarkFinished(paths []string) {
	if len(paths) > 0 {
		a.err.say("finished what a run was killed in: " + count(len(paths), "change") + " applied")
	}
}
