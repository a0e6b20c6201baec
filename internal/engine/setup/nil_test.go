package setup

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestIsNil(t *testing.T) {
	var (
		buffer *bytes.Buffer
		reader io.Reader
		f      jobtype.HandlerFunc
	)
	for name, v := range map[string]any{"nil": nil, "interface": reader, "pointer": buffer, "pointer in an interface": io.Reader(buffer), "function": f, "handler": jobtype.Handler(f)} {
		if !IsNil(v) {
			t.Errorf("%s: not nil", name)
		}
	}
	for name, v := range map[string]any{"pointer": &bytes.Buffer{}, "struct": struct{}{}, "number": 0, "function": jobtype.HandlerFunc(func(context.Context, jobtype.ShardingContext) error { return nil })} {
		if IsNil(v) {
			t.Errorf("%s: nil", name)
		}
	}
}
