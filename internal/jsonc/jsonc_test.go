package jsonc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

type inner struct {
	Size  sandbox.Bytes     `json:"size"`
	Words []string          `json:"words"`
	Pairs map[string]string `json:"pairs"`
}

type outer struct {
	Name   string  `json:"name"`
	Inner  inner   `json:"inner"`
	List   []inner `json:"list"`
	Raw    Value   `json:"raw"`
	Number *int    `json:"number"`
	Hidden string  `json:"-"`
}

func decode(t *testing.T, r Reader, text string) (outer, map[string]int, []string) {
	t.Helper()
	v, problem := r.Parse("f", []byte(text))
	if problem != nil {
		return outer{}, nil, []string{problem.String()}
	}
	var o outer
	lines, problems := r.Decode(v, &o)
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.String())
	}
	return o, lines, texts
}

func Test_A_File_Is_Put_Into_A_Struct(t *testing.T) {
	t.Parallel()
	o, lines, problems := decode(t, Reader{}, `{
  "name": "a", // comment
  "inner": {"size": "2k", "words": [], "pairs": {"x": "y"}},
  "list": [{}, {"words": ["a",
     "b"]}],
  "raw": {"any": [1]}, "number": 7,
}`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	seven := 7
	want := outer{
		Name: "a", Inner: inner{Size: 2048, Words: []string{}, Pairs: map[string]string{"x": "y"}},
		List: []inner{{}, {Words: []string{"a", "b"}}}, Number: &seven,
	}
	if !o.Raw.IsPresent() || !o.Raw.IsObject() || o.Raw.Line() != 6 {
		t.Errorf("raw is %+v", o.Raw)
	}
	alone, problem := Reader{}.Parse("f", o.Raw.Alone())
	if problem != nil || alone.Line() != 6 {
		t.Errorf("alone it is on line %d, %v", alone.Line(), problem)
	}
	o.Raw = Value{}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v, want %+v", o, want)
	}
	if lines["list[1].words[1]"] != 5 || lines["inner.pairs.x"] != 3 || lines["gone"] != 0 {
		t.Errorf("lines %v", lines)
	}
}

func Test_All_Problems_Are_Reported_In_Order(t *testing.T) {
	t.Parallel()
	_, _, got := decode(t, Reader{}, "{\"name\": 1,\n\"nam\": 1,\n\"inner\": {\"size\": \"4xyz\", \"words\": null},\n\"list\": [1], \"-\": \"x\", \"number\": 1.5,\n\"name\": \"b\"}")
	want := []string{
		"f:1: name: found 1, expected a string",
		"f:2: nam: found an unknown key, expected one of name, inner, list, raw, number",
		`f:3: inner.size: found "4xyz", expected a whole number of at least 1`,
		"f:3: inner.words: found null, expected an array of strings",
		"f:4: list[0]: found 1, expected an object",
		"f:4: -: found an unknown key, expected one of name, inner, list, raw, number",
		"f:4: number: found 1.5, expected a whole number of at least 1",
		"f:5: name: found a second time, expected once (first on line 1)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, _, got = decode(t, Reader{}, `{"list": [`+strings.Repeat("{},", MaxEntries+1)+"]}")
	if diff := cmp.Diff([]string{"f:1: list: found 65537 entries, expected at most 65536"}, got); diff != "" {
		t.Error(diff)
	}
	_, _, got = decode(t, Reader{}, "{"+strings.Repeat(`"x": 1,`, 10*MaxProblems)+"}")
	if len(got) != MaxProblems {
		t.Errorf("%d problems are reported", len(got))
	}
}

func Test_A_Long_Name_With_Many_Entries_Is_A_Problem(t *testing.T) {
	t.Parallel()
	var into map[string][]string
	v, problem := Reader{}.Parse("f", []byte(`{"`+strings.Repeat("x", MaxFile/2)+`": [`+strings.Repeat(`"",`, MaxEntries)+"]}"))
	if problem != nil {
		t.Fatal(problem)
	}
	_, problems := Reader{}.Decode(v, &into)
	if len(problems) != 1 || problems[0].Text != "found more than 32MiB of key paths, expected shorter names" || len(problems[0].Key) > 400 {
		t.Errorf("got %.2000v", problems)
	}
}

func Test_A_Value_Is_Walked_By_Members_And_Elements(t *testing.T) {
	t.Parallel()
	v, problem := Reader{}.Parse("f", []byte("{\"a\": [\"x\",\n 1.50, true, null, {}],\n// comment\n\"b\\u0041\": {\"c\": false}}"))
	if problem != nil || v.Check() != nil || v.Kind() != Object {
		t.Fatal(problem, v.Check(), v.Kind())
	}
	var got []string
	for _, m := range v.Members() {
		got = append(got, fmt.Sprintf("%s on line %d: %d members, %d elements", m.Name, m.Line, len(m.Value.Members()), len(m.Value.Elements())))
		for _, e := range m.Value.Elements() {
			got = append(got, fmt.Sprintf("%c %q: %s", e.Kind(), e.Scalar(), e.Problem("", "found %s", e.What())))
		}
	}
	want := []string{
		"a on line 1: 0 members, 5 elements",
		`" "x": f:1: a[0]: found "x"`, `0 "1.50": f:2: a[1]: found 1.50`, `t "true": f:2: a[2]: found true`, `n "": f:2: a[3]: found null`, `{ "": f:2: a[4]: found an object`,
		"bA on line 4: 1 members, 0 elements",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if v := (Value{}); v.Kind() != 0 || v.Members() != nil || v.Elements() != nil || v.Scalar() != "" || v.Check() != nil {
		t.Error("a value that the file does not have has something")
	}
}

func Test_Check_Finds_What_Decode_Refuses_Everywhere(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ in, want string }{
		{`{"a": {"b": 1, "c": 2}}`, ""},
		{"{\"a\": [1, {\"b\": 1,\n\"\\u0062\": 2}]}", "f:2: a[1].b: found a second time, expected once (first on line 1)"},
		{`{"a": ["\udc00"]}`, `f:1: a[0]: found half of a surrogate pair in "\"\\udc00\"", expected a whole character`},
		{`{"a": {"\ud800": 1}}`, `f:1: a: found half of a surrogate pair in "\"\\ud800\"", expected a whole character`},
		{`[[{"a": 1, "a": 2}]]`, "f:1: [0][0].a: found a second time, expected once (first on line 1)"},
	} {
		v, problem := Reader{}.Parse("f", []byte(row.in))
		if problem != nil {
			t.Fatal(problem)
		}
		got := ""
		if p := v.Check(); p != nil {
			got = p.String()
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s", row.in, got, row.want)
		}
	}
}

func Test_A_Quiet_Reader_Repeats_No_Strings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"inner": "hunter2"}`, `{"inner": {"pairs": "hunter2"}}`, `{"inner": {"size": "hunter2"}}`, `{"raw": "\ud800hunter2", "name": "\ud800hunter2"}`,
		`{"name": hunter2}`, "{\"name\": \"a\nhunter2\"}", `{"list": ["hunter2"]}`,
	} {
		_, _, problems := decode(t, Reader{Quiet: true}, text)
		if len(problems) == 0 || strings.Contains(strings.Join(problems, ""), "hunter2") {
			t.Errorf("%s: %q", text, problems)
		}
	}
}

func Test_A_Problem_Comes_Back_From_An_Error(t *testing.T) {
	t.Parallel()
	p := Problem{File: "f\n", Line: 3, Key: "a.b", Text: "found x, expected y", Hint: "z"}
	err := p.Err()
	if want := `"f\n":3: a.b: found x, expected y`; err.Error() != want || sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("got %v, want %s", err, want)
	}
	if got, ok := ProblemOf(sandbox.Errorf(sandbox.Invalid, "around: %w", err)); !ok || got != p {
		t.Errorf("got %+v", got)
	}
	if _, ok := ProblemOf(sandbox.ErrInvalid); ok {
		t.Error("a problem was found in another error")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name": "a", "inner": {"size": 1}, "list": [{}], "raw": [1, {"x": 2}]} // x`))
	f.Add([]byte(`{"raw": /* x */ "\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, problem := Reader{}.Parse("f", data)
		if problem != nil {
			return
		}
		var o outer
		_, problems := Reader{}.Decode(v, &o)
		for _, p := range problems {
			if strings.ContainsAny(p.String(), "\n\r\x1b") {
				t.Errorf("%q", p)
			}
		}
		if !o.Raw.IsPresent() {
			return
		}
		alone, problem := Reader{}.Parse("f", o.Raw.Alone())
		if problem != nil || alone.Line() != o.Raw.Line() {
			t.Errorf("%v: line %d, was %d", problem, alone.Line(), o.Raw.Line())
		}
		_, _ = json.Marshal(o)
	})
}
