package images

import (
	"io/fs"
	"strings"
	"testing"
)

func Test_The_Base_Image_Is_Built_From_The_Image_Of_Its_Dockerfile(t *testing.T) {
	files, err := Context(Base)
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(files, "Dockerfile")
	if err != nil || !strings.Contains(string(text), "\nARG BASE="+DefaultFrom+"\n") {
		t.Errorf("%v: %s", err, text)
	}
}
