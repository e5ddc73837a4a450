//go:build !linux

package guest

func runStage(_, env []string) int {
	return process{env: env}.fail(125, "stage: only Linux has overlays")
}
