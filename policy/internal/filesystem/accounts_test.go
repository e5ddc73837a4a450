package filesystem

import "testing"

func Test_System_Directories_Are_Not_Hidden_With_The_Homes_In_Them(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{"/home": true, "/home/staff": true, "/export/users": true, "/": false, "/var/lib": false, "/opt": false, "/srv": false, "/variety": true} {
		if got := isForHomes(dir); got != want {
			t.Errorf("%s: %v", dir, got)
		}
	}
}
