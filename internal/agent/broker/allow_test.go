package broker_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker"
)

// minimal returns a request of an API with a further member and a further piece of content.
func minimal(api connector.Protocol, member, content string) string {
	begin := map[connector.Protocol]string{
		connector.Anthropic: `{"model":"asked-model","max_tokens":500,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}`,
		connector.Responses: `{"model":"asked-model","max_output_tokens":500,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}`,
		connector.OpenAI:    `{"model":"asked-model","max_tokens":500,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}`,
	}[api]
	if member != "" {
		member = "," + member
	}
	if content != "" {
		content = "," + content
	}
	return begin + content + `]}]` + member + `,"stream":true}`
}

// attack is a request that the broker must not forward, and the connector's list that permits it. Without a list,
// control is the nearest request that the broker forwards.
type attack struct {
	api             connector.Protocol
	member, content string
	says            string
	open            connector.Allow
	control         string // a member
}

func attacks() map[string]attack {
	const a, r, c = connector.Anthropic, connector.Responses, connector.OpenAI
	tools := func(names ...string) connector.Allow { return connector.Allow{Tools: names} }
	members := func(names ...string) connector.Allow { return connector.Allow{Members: names} }
	sources := func(names ...string) connector.Allow { return connector.Allow{Sources: names} }
	const anywhere = "https://169.254.169.254/x"
	schema := `"input_schema":{"type":"object"}`
	return map[string]attack{
		"servers of tools at any address": {api: a, member: `"mcp_servers":[{"type":"url","url":"` + anywhere + `","name":"x"}]`, says: `mcp_servers: the broker passes no member`, open: members("mcp_servers")},
		"a member in escapes":             {api: a, member: `"mcp\u005fservers":[]`, says: `mcp_servers: the broker passes no member`, open: members("mcp_servers")},
		"a fetch by the server":           {api: a, member: `"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]`, says: `tools[0]: the broker passes no tool of type`, open: tools("web_fetch_20250910")},
		"a tool type in escapes":          {api: a, member: `"tools":[{"type":"web\u005ffetch_20250910","name":"web_fetch"}]`, says: `no tool of type`, open: tools("web_fetch_20250910")},
		"code that the server runs":       {api: a, member: `"tools":[{"name":"a",` + schema + `},{"type":"code_execution_20250825","name":"code_execution"}]`, says: `tools[1]`, open: tools("code_execution_20250825")},
		"a computer":                      {api: a, member: `"tools":[{"type":"computer_20250124","name":"computer"}]`, says: `tools[0]`, open: tools("computer_20250124")},
		"a tool of two types":             {api: a, member: `"tools":[{"type":"custom","name":"a",` + schema + `,"type":"mcp_toolset"}]`, says: `tools[0].type: expected once`, control: `"tools":[{"type":"custom","name":"a",` + schema + `}]`},
		"a container":                     {api: a, member: `"container":"container_1"`, says: "container: nothing is stored here", control: `"container":null`},
		"the dearest tier":                {api: a, member: `"service_tier":"priority"`, says: "service_tier: expected", control: `"service_tier":"auto"`},
		"a speed that costs more":         {api: a, member: `"speed":"fast"`, says: "speed: the broker passes no member", open: members("speed")},
		"an image at an address":          {api: a, content: `{"type":"image","source":{"type":"url","url":"` + anywhere + `"}}`, says: `messages[0].content[1].source: the broker passes no source`, open: sources("url")},
		"an image of the account":         {api: a, content: `{"type":"image","source":{"type":"file","file_id":"file_1"}}`, says: `no source \"file\"`, open: sources("file")},
		"a document at an address":        {api: a, content: `{"type":"document","source":{"type":"url","url":"` + anywhere + `"}}`, says: `no source \"url\"`, open: sources("url")},
		"an address beside the data":      {api: a, content: `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO","url":"` + anywhere + `"}}`, says: `source.url: the broker passes no member`, open: members("url")},
		"an address in a result":          {api: a, content: `{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"` + anywhere + `"}}]}`, says: `messages[0].content[1].content[0].source`, open: sources("url")},
		"an address within a document":    {api: a, content: `{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"` + anywhere + `"}}]}}`, says: `no source \"url\"`, open: sources("url")},
		"a file for a container":          {api: a, content: `{"type":"container_upload","file_id":"file_1"}`, says: `no block of type`, open: connector.Allow{Blocks: []string{"container_upload"}}},

		"a server of tools":                  {api: r, member: `"tools":[{"type":"mcp","server_label":"x","server_url":"` + anywhere + `"}]`, says: `tools[0]: the broker passes no tool of type \"mcp\"`, open: tools("mcp")},
		"a server address in a function":     {api: r, member: `"tools":[{"type":"function","name":"f","server_url":"` + anywhere + `"}]`, says: `tools[0].server_url: the broker passes no member`, open: members("server_url")},
		"a server of tools in a namespace":   {api: r, member: `"tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp","server_url":"` + anywhere + `"}]}]`, says: `tools[0].tools[0]`, open: tools("mcp")},
		"an interpreter":                     {api: r, member: `"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["file_1"]}}]`, says: `no tool of type`, open: tools("code_interpreter")},
		"a search in the account's files":    {api: r, member: `"tools":[{"type":"file_search","vector_store_ids":["vs_1"]}]`, says: `no tool of type`, open: tools("file_search")},
		"a search that is demanded":          {api: r, member: `"tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"}`, says: `tool_choice: the broker passes no tool of type`, open: tools("web_search")},
		"an earlier answer":                  {api: r, member: `"previous_response_id":"resp_1"`, says: "previous_response_id: nothing is stored here", control: `"previous_response_id":null`},
		"a stored conversation":              {api: r, member: `"conversation":"conv_1"`, says: "conversation: nothing is stored here", control: `"conversation":null`},
		"a stored prompt":                    {api: r, member: `"prompt":{"id":"pmpt_1"}`, says: "prompt: the broker passes no member", open: members("prompt")},
		"work that is not waited for":        {api: r, member: `"background":true`, says: "background: expected false", control: `"background":false`},
		"a tier":                             {api: r, member: `"service_tier":"priority"`, says: "service_tier: expected", control: `"service_tier":"default"`},
		"an image at an address, Responses":  {api: r, content: `{"type":"input_image","image_url":"` + anywhere + `"}`, says: `input[0].content[1].image_url: the broker passes no source`, open: sources("url")},
		"an image of the account, Responses": {api: r, content: `{"type":"input_image","file_id":"file_1"}`, says: `input[0].content[1].file_id: the broker passes no source`, open: sources("file")},
		"a file at an address":               {api: r, content: `{"type":"input_file","file_url":"` + anywhere + `"}`, says: `no source \"url\"`, open: sources("url")},
		"a file of the account":              {api: r, content: `{"type":"input_file","file_id":"file_1"}`, says: `no source \"file\"`, open: sources("file")},
		"an item of the account":             {api: r, member: `"input":[{"type":"item_reference","id":"msg_1"}]`, says: `expected once`, control: `"user":"x"`},

		"many answers":                  {api: c, member: `"n":128`, says: "n: expected one answer", control: `"n":1`},
		"the best of many":              {api: c, member: `"best_of":128`, says: "best_of: the broker passes no member", control: `"seed":1`},
		"a search, Chat":                {api: c, member: `"web_search_options":{}`, says: "web_search_options: the broker passes no member", open: members("web_search_options")},
		"another router's models":       {api: c, member: `"models":["dear-model"]`, says: "models: the broker passes no member", open: members("models")},
		"a member in capitals":          {api: c, member: `"N":128`, says: "N: the broker passes no member", control: `"n":1`},
		"a member twice":                {api: c, member: `"n":1,"n":128`, says: "n: expected once", control: `"n":1`},
		"the model twice":               {api: c, member: `"model":"dear-model"`, says: "model: expected once", control: `"seed":1`},
		"a server of tools, Chat":       {api: c, member: `"tools":[{"type":"mcp","server_url":"` + anywhere + `"}]`, says: `no tool of type \"mcp\"`, open: tools("mcp")},
		"an image at an address, Chat":  {api: c, content: `{"type":"image_url","image_url":{"url":"` + anywhere + `"}}`, says: `messages[0].content[1].image_url.url: the broker passes no source`, open: sources("url")},
		"an address in capitals":        {api: c, content: `{"type":"image_url","image_url":{"url":"HTTPS://a.b/"}}`, says: `no source \"url\"`, open: sources("url")},
		"an address in place of a name": {api: c, content: `{"type":"image_url","image_url":"` + anywhere + `"}`, says: `no source \"url\"`, open: sources("url")},
		"a file of the account, Chat":   {api: c, content: `{"type":"file","file":{"file_id":"file_1"}}`, says: `file.file_id: the broker passes no source`, open: sources("file")},
		"a file at an address, Chat":    {api: c, content: `{"type":"file","file":{"filename":"a.pdf","file_data":"` + anywhere + `"}}`, says: `no source \"url\"`, open: sources("url")},
		"a video":                       {api: c, content: `{"type":"video_url","video_url":{"url":"` + anywhere + `"}}`, says: `no block of type`, open: connector.Allow{Blocks: []string{"video_url"}}},
	}
}

func Test_A_Request_Contains_Only_Listed_Members(t *testing.T) {
	t.Parallel()
	for name, row := range attacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, to := range protocols() { // the result must not depend on translation
				b := newBed(t, to, stream(events(to, answer{text: "Hi.", stop: "stop"})...))
				status, body, _ := b.read(t, path(row.api), minimal(row.api, row.member, row.content))
				if status != http.StatusBadRequest || !strings.Contains(body, row.says) || len(b.got) != 0 {
					t.Errorf("to %s: got %d %s, and the server was asked %d times; want %s", to, status, body, len(b.got), row.says)
				}
				if isAnthropic := strings.HasPrefix(body, `{"type":"error","error":{`); isAnthropic != (row.api == connector.Anthropic) {
					t.Errorf("the error is %s", body)
				}
			}
			member := row.member
			if row.control != "" {
				member = row.control
			}
			b := newBed(t, row.api, stream(events(row.api, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) {
				c := o.Models["asked-model"]
				c.Allow = row.open
				o.Models = map[string]connector.Connector{"asked-model": c}
			})
			if status, body, _ := b.read(t, path(row.api), minimal(row.api, member, row.content)); status != http.StatusOK {
				t.Errorf("the control: got %d %s", status, body)
			}
		})
	}
}

func Test_Nothing_Is_Stored_By_The_Server(t *testing.T) {
	t.Parallel()
	for _, to := range protocols() {
		for _, api := range []connector.Protocol{connector.Responses, connector.OpenAI} {
			for _, member := range []string{"", `"store":true`, `"store":null`} {
				b := newBed(t, to, stream(events(to, answer{text: "Hi.", stop: "stop"})...))
				if status, body, _ := b.read(t, path(api), minimal(api, member, "")); status != http.StatusOK {
					t.Fatalf("%s: got %d %s", api, status, body)
				}
				sent := string(b.last(t).body)
				says := to == connector.Responses || to == api && member != ""
				if strings.Contains(sent, `"store":true`) || strings.Contains(sent, `"store":null`) || strings.Contains(sent, `"store":false`) != says {
					t.Errorf("%s to %s with %s: sent %s", api, to, member, sent)
				}
			}
		}
	}
}

func Test_Only_Listed_Betas_Pass(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		api          connector.Protocol
		header, sent string
		open         []string
		want         string
	}{
		{connector.Anthropic, "Anthropic-Beta", "claude-code-20250219,mcp-client-2025-11-20, files-api-2025-04-14,effort-2025-11-24", nil, "claude-code-20250219,effort-2025-11-24"},
		{connector.Anthropic, "Anthropic-Beta", "mcp-client-2025-11-20", nil, ""},
		{connector.Anthropic, "Anthropic-Beta", "context-1m-2025-08-07,mcp-client-2025-11-20", []string{"context-1m-2025-08-07"}, "context-1m-2025-08-07"},
		{connector.Anthropic, "Anthropic-Version", "2099-01-01", nil, "2023-06-01"},
		{connector.Responses, "Openai-Beta", "responses=experimental,assistants=v2", nil, "responses=experimental"},
		{connector.Responses, "Openai-Organization", "org-other", nil, ""},
	} {
		b := newBed(t, row.api, stream(events(row.api, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) {
			c := o.Models["asked-model"]
			c.Allow.Betas = row.open
			o.Models = map[string]connector.Connector{"asked-model": c}
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+path(row.api), strings.NewReader(minimal(row.api, "", "")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set(row.header, row.sent)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if got := b.last(t).header.Values(row.header); err != nil || resp.StatusCode != http.StatusOK || strings.Join(got, "|") != row.want {
			t.Errorf("%s: %s: got %d %q (%v), want %q", row.header, row.sent, resp.StatusCode, got, err, row.want)
		}
	}
}

func Test_A_Search_That_The_Server_Would_Run_Is_Left_Out(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		api           connector.Protocol
		member        string
		open          []string
		want, without string
	}{
		{connector.Responses, `"tools":[{"type":"web_search"},{"type":"function","name":"f"}],"tool_choice":"auto"`, nil, `"tools":[{"type":"function","name":"f"}],"tool_choice":"auto"`, "web_search"},
		{connector.Responses, `"tools":[{"type":"web_search"}],"tool_choice":"auto"`, nil, `"stream":true`, "tool"},
		{connector.Responses, `"tools":[{"type":"web_search","filters":{}}],"tool_choice":"auto"`, []string{"web_search"}, `"tools":[{"type":"web_search","filters":{}}]`, "x-x"},
		{connector.Anthropic, `"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"auto"}`, nil, `"stream":true`, "tool"},
	} {
		b := newBed(t, row.api, stream(events(row.api, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) {
			c := o.Models["asked-model"]
			c.Allow.Tools = row.open
			o.Models = map[string]connector.Connector{"asked-model": c}
		})
		if status, body, _ := b.read(t, path(row.api), minimal(row.api, row.member, "")); status != http.StatusOK {
			t.Fatalf("got %d %s", status, body)
		}
		if sent := string(b.last(t).body); !strings.Contains(sent, row.want) || strings.Contains(sent, row.without) {
			t.Errorf("sent %s", sent)
		}
	}
	b := newBed(t, connector.Anthropic, nil)
	status, body, _ := b.read(t, path(connector.Anthropic),
		minimal(connector.Anthropic, `"tools":[{"type":"web_search_20250305","name":"w"}],"tool_choice":{"type":"tool","name":"w"}`, ""))
	if status != http.StatusBadRequest || !strings.Contains(body, `no tool of type \"web_search_20250305\"`) {
		t.Errorf("a demanded search: %d %s", status, body)
	}
}

func Test_Concurrent_Requests_Reserve_Their_Tokens(t *testing.T) {
	t.Parallel()
	// The prompt has 100 tokens, both by the estimate and by the server.
	prompt := func(api connector.Protocol) string {
		return strings.Replace(minimal(api, "", ""), `"hi"`, `"`+strings.Repeat("x", 400)+`"`, 1)
	}
	for _, limits := range []broker.Limits{{Tokens: 1000}, {CostUSD: 1000}} {
		forPairs(t, func(t *testing.T, api, to connector.Protocol) {
			t.Helper()
			arrived, all := make(chan struct{}, 64), make(chan struct{})
			b := newBed(t, to, func(w http.ResponseWriter, r *http.Request) {
				arrived <- struct{}{}
				select {
				case <-all:
				case <-r.Context().Done():
				}
				stream(events(to, answer{text: "Hi.", stop: "stop"})...)(w, r) // 120 tokens
			}, func(o *broker.Options) {
				o.Limits = limits
				o.Limits.AtOnce = 64
			})
			var done sync.WaitGroup
			codes := make(chan int, 64)
			for range 64 {
				done.Go(func() {
					status, body, _ := b.read(t, path(api), prompt(api))
					if status != http.StatusOK && !strings.Contains(body, "ceiling of 1000") {
						t.Errorf("got %d %s", status, body)
					}
					codes <- status
				})
			}
			<-arrived
			close(all)
			done.Wait()
			close(codes)
			passed := 0
			for status := range codes {
				if status == http.StatusOK {
					passed++
				}
			}
			if used := b.broker.CostUSD(); used > 1000 || passed != 8 || passed != len(b.got) {
				t.Errorf("%d requests passed, the server was asked %d times, %g tokens were booked", passed, len(b.got), used)
			}
		})
	}
}

func Test_Close_Ends_A_Request_That_Waits_For_Tokens(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	b := newBed(t, connector.OpenAI, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}, func(o *broker.Options) { o.Limits.Tokens = 600 })
	answers := make(chan string, 2)
	for range 2 {
		go func() {
			status, body, _ := b.read(t, path(connector.OpenAI), minimal(connector.OpenAI, "", ""))
			answers <- fmt.Sprint(status, body)
		}()
	}
	<-asked
	if err := b.broker.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-answers; !strings.HasPrefix(got, "400") || !strings.Contains(got, "the run is over") {
			t.Errorf("got %s", got)
		}
	}
	if len(b.got) != 1 {
		t.Errorf("the server was asked %d times", len(b.got))
	}
}

func Test_A_Ceiling_Shortens_The_Last_Answer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		api                connector.Protocol
		member, ask        string
		limit, least, most int64
	}{
		{connector.OpenAI, `"max_tokens":`, minimal(connector.OpenAI, "", ""), 200, 150, 199},
		{connector.OpenAI, `"max_tokens":`, strings.Replace(minimal(connector.OpenAI, "", ""), `"max_tokens":500,`, "", 1), 100_000, 8192, 8192},
		{connector.Responses, `"max_output_tokens":`, strings.Replace(minimal(connector.Responses, "", ""), `"max_output_tokens":500,`, "", 1), 100_000, 32768, 32768},
		{connector.Anthropic, `"budget_tokens":`, strings.Replace(minimal(connector.Anthropic, `"thinking":{"type":"enabled","budget_tokens":31999}`, ""), "500", "32000", 1), 2000, 1900, 1998},
	} {
		b := newBed(t, row.api, stream(events(row.api, answer{text: "Hi.", stop: "stop"})...), func(o *broker.Options) { o.Limits.Tokens = row.limit })
		if status, body, _ := b.read(t, path(row.api), row.ask); status != http.StatusOK {
			t.Fatalf("got %d %s", status, body)
		}
		sent := string(b.last(t).body)
		_, rest, _ := strings.Cut(sent, row.member)
		var n int64
		if _, err := fmt.Sscanf(rest, "%d", &n); err != nil || n < row.least || n > row.most {
			t.Errorf("%d of %d to %d (%v): %s", n, row.least, row.most, err, sent)
		}
	}
}
