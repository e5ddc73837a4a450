package message_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/message"
)

func Test_A_Message_Round_Trips_As_JSON(t *testing.T) {
	t.Parallel()
	for text, m := range map[string]message.Message{
		`{"role":"user","content":"a\nb"}`:  message.New(message.User, "a\nb"),
		`{"role":"assistant","content":""}`: message.New(message.Assistant, ""),
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","media_type":"image/png","data":"AQI="}]}`: {
			Role: message.User,
			Parts: []message.Part{
				{Type: message.Text, Text: "look"},
				{Type: message.Image, MediaType: "image/png", Data: []byte{1, 2}},
			},
		},
	} {
		data, err := json.Marshal(m)
		if err != nil || string(data) != text {
			t.Errorf("%s, %v; want %s", data, err, text)
		}
		var back message.Message
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
}

func Test_Invalid_Messages_Are_Refused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"role":"tool","content":"x"}`:                      "role: expected system, user or assistant",
		`{"role":"user"}`:                                    "content: expected a text",
		`{"role":"user","content":7}`:                        "content: expected a text",
		`{"role":"user","content":[{"type":"video"}]}`:       "content[0].type: expected text, image or file",
		`{"role":"user","content":[{"type":"text"},"word"]}`: "content: expected a text",
	} {
		var m message.Message
		if err := json.Unmarshal([]byte(text), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func Test_The_Text_Of_A_Message_Has_Its_Text_Parts(t *testing.T) {
	t.Parallel()
	m := message.Message{Role: message.User, Parts: []message.Part{{Type: message.Text, Text: "a"}, {Type: message.File, Name: "f"}, {Type: message.Text, Text: "b"}}}
	if got := m.Text(); got != "a\nb" {
		t.Errorf("%q", got)
	}
}
