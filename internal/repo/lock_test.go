package repo

import (
	"context"
	"errors"
	"testing"
)

func Test_A_Lock_Admits_One_At_A_Time(t *testing.T) {
	dir := t.TempDir()
	r, other := Repo{Path: "/a"}, Repo{Path: "/b"}
	release, err := r.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	free, err := other.Lock(t.Context(), dir)
	if err != nil {
		t.Fatalf("another repository waits: %v", err)
	}
	free()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Lock(ended, dir); !errors.Is(err, context.Canceled) {
		t.Fatalf("a second one got it: %v", err)
	}
	release()
	again, err := r.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
