package model

import (
	"math"
	"testing"
)

func Test_Members_Of_Another_Type_Do_Not_Spoil_An_Event(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, in string
		text     looseString
		number   looseInt
	}{
		{"as the API has them", `{"text":"aä\u0041","number":5}`, "aäA", 5},
		{"neither", `{"other":[1]}`, "", 0},
		{"null", `{"text":null,"number":null}`, "", 0},
		{"a number as text", `{"text":12,"number":1}`, "12", 1},
		{"an object and an array", `{"text":{"a":"b"},"number":[1]}`, `{"a":"b"}`, 0},
		{"a number in quotes", `{"number":"7"}`, "", 7},
		{"a fraction", `{"number":1.9}`, "", 1},
		{"below zero", `{"number":-4}`, "", -4},
		{"words", `{"number":"many"}`, "", 0},
		{"the largest", `{"number":9223372036854775807}`, "", math.MaxInt64},
		{"too large", `{"number":1e300}`, "", 0},
		{"the rest of the wrong type", `{"object":3,"list":{},"text":"a","number":2}`, "a", 2},
		{"elements of the wrong type", `{"list":[1,"a",null],"text":"a","number":2}`, "a", 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got struct {
				Object struct{ A looseInt }   `json:"object"`
				List   []struct{ A looseInt } `json:"list"`
				Text   looseString            `json:"text"`
				Number looseInt               `json:"number"`
			}
			if !decode([]byte(row.in), &got) || got.Text != row.text || got.Number != row.number {
				t.Errorf("got %q and %d, want %q and %d", got.Text, got.Number, row.text, row.number)
			}
		})
	}
	for _, in := range []string{``, `{`, `{"text":}`, `{"text":"a"} x`} {
		if decode([]byte(in), &chatChunk{}) {
			t.Errorf("%q was read", in)
		}
	}
}

func Benchmark_Delta(b *testing.B) {
	for _, row := range []struct {
		name, data string
		into       func() any
	}{
		{"openai", `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}`, func() any { return new(chatChunk) }},
		{"responses", `{"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"Hel","logprobs":[],"sequence_number":4}`, func() any { return new(responseEvent) }},
		{"anthropic", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`, func() any { return new(messagesEvent) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if into := row.into(); !decode([]byte(row.data), into) {
					b.Fatal(into)
				}
			}
		})
	}
}
