package kube

import "strings"

// maxNamed limits how many files a notice lists.
const maxNamed = 5

// noticeLeft reports the secret files of the workspace that were not copied. names are relative to the workspace.
func (i *instance) noticeLeft(names []string) {
	if len(names) == 0 {
		return
	}
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		list += ", ..."
	}
	i.driver.options.Notice("not copied into the pod, because such files hold secrets: " + list +
		"; name one to copy it: --rw " + names[0])
}
