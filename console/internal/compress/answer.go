package compress

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// minGzip is how large an answer is at least that is compressed: below that it does not pay. From largeGzip on it is done in
// a third of the time, for a tenth more bytes.
const (
	minGzip   = 8 << 10
	largeGzip = 1 << 20
)

// Answer has a handler's answer compressed if it is large, by what is written of it first, and the client takes that.
// No answer to a GET has a secret whose length would give it away (BREACH). One whose handler panics has no end.
func Answer(w http.ResponseWriter, r *http.Request, handle func(http.ResponseWriter)) {
	if r.Method != http.MethodGet {
		handle(w)
		return
	}
	w.Header().Add("Vary", "Accept-Encoding")
	if !Taken(r.Header.Get("Accept-Encoding")) {
		handle(w)
		return
	}
	c := &compressor{ResponseWriter: w, status: http.StatusOK}
	handle(c)
	c.end()
}

// Taken reports whether a header Accept-Encoding has gzip, and does not refuse it by its quality.
func Taken(header string) bool {
	for coding := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			return strings.Trim(quality, "q=0.") != "" || quality == ""
		}
	}
	return false
}

// compressor waits with the status until it knows how large the answer is.
type compressor struct {
	http.ResponseWriter
	status int
	begun  bool
	zip    *gzip.Writer // nil if it is not compressed
}

// Unwrap is for http.ResponseController.
func (c *compressor) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *compressor) WriteHeader(status int) { c.status = status }

// begin sends the status, if that was not done yet. size is that of what is written first.
func (c *compressor) begin(size int) error {
	if c.begun {
		return nil
	}
	c.begun = true
	var err error
	if size >= minGzip {
		level := gzip.DefaultCompression
		if size >= largeGzip {
			level = gzip.BestSpeed
		}
		c.zip, err = gzip.NewWriterLevel(c.ResponseWriter, level)
		c.Header().Set("Content-Encoding", "gzip")
	}
	c.ResponseWriter.WriteHeader(c.status)
	return err
}

func (c *compressor) Write(part []byte) (int, error) {
	switch err := c.begin(len(part)); {
	case err != nil:
		return 0, err
	case c.zip == nil:
		return c.ResponseWriter.Write(part)
	}
	return c.zip.Write(part)
}

func (c *compressor) end() {
	_ = c.begin(0) // if there was no body: nothing is compressed then
	if c.zip != nil {
		_ = c.zip.Close() // the client is gone
	}
}
