package curl

import (
	"time"
)

// config holds the parsed options up to a --next.
type config struct {
	outputs  []output
	nextURL  int // of outputs: the first one without a URL
	nextOut  int // of outputs: the first one without a file
	nextLoad int // of outputs: the first one without an upload

	method  string
	kind    requestKind
	head    bool
	get     bool
	data    []byte
	hasData bool
	json    bool
	form    []part
	target  string // --request-target

	headers      []string
	proxyHeaders []string
	agent        *string
	referer      string
	autoReferer  bool
	user         string
	bearer       string
	digest       bool
	netrc        bool
	netrcMay     bool
	netrcFile    string
	rangeOf      string
	resume       int64 // -1: where the file ends
	hasResume    bool
	compressed   bool
	raw          bool
	urlQuery     []string

	cookies     []string
	cookieFiles []string
	cookieJar   string
	newSession  bool

	include       bool
	dumpHeader    string
	remoteAll     bool
	remoteName    bool // -J
	outputDir     string
	createDirs    bool
	noClobber     bool
	removeOnError bool
	remoteTime    bool
	writeOut      string
	etagSave      string
	etagCompare   string

	fail         bool
	failWithBody bool
	maxFile      int64

	location        bool
	locationTrusted bool
	maxRedirects    int
	post301         bool
	post302         bool
	post303         bool
	protocols       map[string]bool // nil: all
	redirProtocols  map[string]bool
	defaultProtocol string

	insecure bool
	caFile   string
	certFile string
	keyFile  string
	tlsMin   uint16
	tlsMax   uint16
	noALPN   bool

	maxTime        time.Duration
	connectTimeout time.Duration
	expectTimeout  time.Duration
	speedLimit     int64
	speedTime      time.Duration
	http10         bool
	retry          int
	retryDelay     time.Duration
	retryMaxTime   time.Duration
	retryRefused   bool
	retryAll       bool

	globOff         bool
	pathAsIs        bool
	noUserInURL     bool
	proxyTunnel     bool
	suppressConnect bool
}

// output is a URL with its destination and its upload.
type output struct {
	url       string
	hasURL    bool
	file      string
	hasFile   bool
	remote    bool // -O
	upload    string
	hasUpload bool
}

// requestKind is which of the options that exclude each other made the request.
type requestKind uint8

const (
	kindNone requestKind = iota
	kindGet
	kindHead
	kindForm
	kindPost
	kindPut
)

// kindNames are those of curl's warning.
var kindNames = [...]string{
	kindGet: "GET (-G, --get)", kindHead: "HEAD (-I, --head)", kindForm: "multipart formpost (-F, --form)",
	kindPost: "POST (-d, --data)", kindPut: "PUT (-T, --upload-file)",
}

func newConfig() *config {
	return &config{maxRedirects: 50, expectTimeout: time.Second}
}

// addURL takes the next place without a URL, or a new one.
func (c *config) addURL(url string) {
	for c.nextURL < len(c.outputs) && c.outputs[c.nextURL].hasURL {
		c.nextURL++
	}
	if c.nextURL == len(c.outputs) {
		c.outputs = append(c.outputs, output{}) // bounded: by options, each of which is charged
	}
	o := &c.outputs[c.nextURL]
	o.url, o.hasURL = url, true
	if c.remoteAll && !o.hasFile && !o.remote {
		o.remote = true
	}
}

// addOutput is -o and -O.
func (c *config) addOutput(file string, remote, set bool) {
	for c.nextOut < len(c.outputs) && (c.outputs[c.nextOut].hasFile || c.outputs[c.nextOut].remote && !c.remoteAll) {
		c.nextOut++
	}
	if c.nextOut == len(c.outputs) {
		c.outputs = append(c.outputs, output{}) // bounded: by options, each of which is charged
	}
	o := &c.outputs[c.nextOut]
	o.file, o.hasFile, o.remote = file, !remote && set, remote && set
	c.nextOut++
}

// addUpload is -T.
func (c *config) addUpload(file string) {
	for c.nextLoad < len(c.outputs) && c.outputs[c.nextLoad].hasUpload {
		c.nextLoad++
	}
	if c.nextLoad == len(c.outputs) {
		c.outputs = append(c.outputs, output{}) // bounded: by options, each of which is charged
	}
	o := &c.outputs[c.nextLoad]
	o.upload, o.hasUpload = file, true
}
