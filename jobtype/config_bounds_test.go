package jobtype_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Whatever the registry has, errors about it are short.
func TestErrorsOfDocumentsAreBounded(t *testing.T) {
	const size = 900_000
	const head = "jobName: j\nshardingTotalCount: 1\n"
	long := strings.Repeat("x", size)
	var nested, keys strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&nested, "  k%d: [a]\n", i)
	}
	for i := range size / 10 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for name, tc := range map[string]struct {
		document string
		field    string
		says     string
	}{
		"20,000 bad properties":      {head + "props:\n" + nested.String(), "props: k0", "and 19990 more"},
		"property with a long name":  {head + "props: {? " + long + " : [a]}\n", "props: xxx", "single value"},
		"long cron":                  {head + "cron: " + long, "cron", "900000 bytes, at most 4096"},
		"cron that is long by space": {head + "cron: '" + strings.Repeat(" ", 4000) + "x'", "cron", "cron expression"},
		"long zone":                  {head + "timeZone: " + long, "timeZone", "IANA"},
		"long name":                  {"shardingTotalCount: 1\njobName: " + long, "jobName", "1 to 200"},
		"long number":                {"jobName: j\nshardingTotalCount: " + strings.Repeat("9", size), "shardingTotalCount", "integer"},
		"long switch":                {head + "misfire: " + long, "misfire", "true and false"},
		"long strategy":              {head + "jobShardingStrategyType: " + long, "jobShardingStrategyType", "900000 bytes, at most 255"},
		"long error handler":         {head + "jobErrorHandlerType: " + long, "jobErrorHandlerType", "at most 255"},
		"long listener":              {head + "jobListenerTypes: [" + long + "]", "jobListenerTypes", "at most 255"},
		"long label":                 {head + "label: " + long, "label", "at most 255"},
		"long thread pool":           {head + "jobExecutorThreadPoolSizeProviderType: " + long, "jobExecutorThreadPoolSizeProviderType", "SINGLE_THREAD are allowed"},
		"long pair":                  {head + "shardingItemParameters: " + long, "shardingItemParameters", "item=parameter"},
		"many keys":                  {keys.String(), "jobName", "shardingTotalCount"},
		"key that is there twice":    {strings.Repeat("? "+long[:size/3]+"\n: a\n", 2), "config", "again"},
		"anchor":                     {"jobName: *" + long, "config", "YAML or JSON"},
		"depth":                      {strings.Repeat("[", size), "config", "depth"},
		"more than a node":           {head + "description: " + long + long, "config", "at most 966656 are allowed"},
	} {
		_, err := jobtype.DecodeConfig([]byte(tc.document))
		var all *jobtype.ConfigError
		if !errors.As(err, &all) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if len(all.Faults) > jobtype.MaxFaults || !strings.HasPrefix(all.Faults[0].Field, tc.field) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %d faults, the first of %.200s: %.2000s", name, len(all.Faults), all.Faults[0].Field, err)
		}
		if len(err.Error()) > 3000 {
			t.Errorf("%s: error of %d bytes", name, len(err.Error()))
		}
		for _, fault := range all.Faults {
			if len(fault.Error()) > 1200 {
				t.Errorf("%s: fault of %d bytes", name, len(fault.Error()))
			}
		}
		if expression, ok := errors.AsType[*cronexpr.ParseError](err); ok && (len(expression.Error()) > 1000 || expression.Position != 4002) {
			t.Errorf("%s: %d bytes, position %d", name, len(expression.Error()), expression.Position)
		}
	}
}

// An error that another package has made of the same types is short, too.
func TestErrorOfManyFaults(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	e := &jobtype.ConfigError{Job: long, More: 5}
	for range 1000 {
		e.Faults = append(e.Faults, &jobtype.FieldError{Field: long, Value: long, Err: errors.New(long)})
	}
	if text := e.Error(); len(text) > 20_000 || !strings.HasSuffix(text, "; and 995 more") {
		t.Errorf("%d bytes: …%s", len(text), text[len(text)-100:])
	}
}

// All fields together have to fit a node, as they are encoded.
func TestSizeOfAConfiguration(t *testing.T) {
	manyProps := maps.Collect(func(yield func(string, string) bool) {
		for i := 0; i < 60_000 && yield(fmt.Sprint(i), ""); i++ {
		}
	})
	for name, tc := range map[string]struct {
		change func(*jobtype.Config)
		fits   bool
	}{
		"nearly all": {func(c *jobtype.Config) { c.JobParameter = strings.Repeat("p", jobtype.MaxConfigSize-1000) }, true},
		"parameter":  {func(c *jobtype.Config) { c.JobParameter = strings.Repeat("p", jobtype.MaxConfigSize) }, false},
		"escapes":    {func(c *jobtype.Config) { c.Description = strings.Repeat("\x01", jobtype.MaxConfigSize/3) }, false},
		"two halves": {func(c *jobtype.Config) {
			c.JobParameter = strings.Repeat("p", jobtype.MaxConfigSize/2)
			c.Description = c.JobParameter
		}, false},
		"a property":      {func(c *jobtype.Config) { c.Props = map[string]string{"k": strings.Repeat("p", jobtype.MaxConfigSize)} }, false},
		"many properties": {func(c *jobtype.Config) { c.Props = manyProps }, false},
	} {
		c := with(tc.change)
		err := c.Validate()
		if (err == nil) != tc.fits {
			t.Errorf("%s: %v", name, err)
		}
		document, encodeErr := c.Encode(nil)
		if (encodeErr == nil) != tc.fits {
			t.Errorf("%s: written: %v", name, encodeErr)
		}
		if tc.fits {
			if got, err := jobtype.DecodeConfig(document); err != nil || !got.Equal(c) {
				t.Errorf("%s: is not read as it was written: %v", name, err)
			}
			continue
		}
		var fault *jobtype.FieldError
		if !errors.As(err, &fault) || fault.Field != "config" || !strings.Contains(err.Error(), "more than 100000 values") && !strings.Contains(err.Error(), "bytes, at most 966656 are allowed") {
			t.Errorf("%s: got %.500v", name, err)
		}
	}
	// What is kept of the previous document counts, too.
	c := with(func(c *jobtype.Config) { c.JobParameter = strings.Repeat("p", jobtype.MaxConfigSize/2) })
	if _, err := c.Encode([]byte("other: " + strings.Repeat("o", jobtype.MaxConfigSize/2+1000))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("too much is kept: %.500v", err)
	}
}

// Keys without a name are kept.
func TestEmptyKeyIsKept(t *testing.T) {
	previous := "'': SINGLE_THREAD\njobName: settle\nshardingTotalCount: 3\n"
	for _, threads := range []int{0, 1, 7} {
		c := with(func(c *jobtype.Config) { c.Threads = threads })
		document, err := c.Encode([]byte(previous))
		if err != nil {
			t.Fatal(err)
		}
		got, err := jobtype.DecodeConfig(document)
		if err != nil || !got.Equal(c) || !slices.Contains(keys(t, document), "") {
			t.Errorf("%d threads: %+v, %v:\n%s", threads, got, err, document)
		}
	}
}
