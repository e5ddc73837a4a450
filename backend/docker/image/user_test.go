package image

import (
	"os"
	"strings"
	"testing"
)

const somePasswd = "root:x:0:0:root:/root:/bin/bash\nnode:x:1001:1002::/home/node:/bin/sh\nodd:x:0:0::/odd:/bin/sh\nshort:x:7\n"

// Y19: every sandbox names its user, and no USER of an image makes it root.
func Test_A_Sandboxs_User_Is_Never_The_Images_Root(t *testing.T) {
	for says, want := range map[string]string{
		"": "1000:1000", "root": "1000:1000", "0": "1000:1000", "0:0": "1000:1000", "odd": "1000:1000", "-1": "1000:1000", "nobody-here": "1000:1000",
		"short": "1000:1000", "99999999999999999999": "1000:1000",
		"node": "1001:1002", "1001": "1001:1002", "4711": "4711:4711", "4711:12": "4711:12", "4711:0": "4711:4711", "4711:staff": "4711:4711",
	} {
		t.Run(says, func(t *testing.T) {
			i := Image{User: says, Passwd: somePasswd}
			u, err := i.SandboxUser("", false)
			if err != nil || u.Identity() != want {
				t.Errorf("it is %s, %v; want %s", u.Identity(), err, want)
			}
			if known := strings.Contains(somePasswd, ":"+want+":"); known == (u.Entry != "") {
				t.Errorf("its line of passwd is %q", u.Entry)
			}
		})
	}
}

func Test_The_User_Of_A_Workspace_Is_Its_Owner(t *testing.T) {
	i := Image{User: "node", Passwd: somePasswd}
	dir := t.TempDir()
	if u, err := i.SandboxUser(dir, false); err != nil || u.UID != os.Getuid() || u.GID != os.Getgid() {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err := i.SandboxUser(dir, true); err != nil || u.Identity() != "0:0" { // on the host, the engine's own user
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := i.SandboxUser(dir+"/none", false); err == nil {
		t.Error("a workspace that does not exist has an owner")
	}
}
