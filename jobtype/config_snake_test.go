package jobtype_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// A document as ElasticJob 3.0.4 writes it, with texts that its writer does not write as they are.
const documentSnake = `cron: 0 * * * * ?
description: !!binary |-
  YQFi
disabled: false
failover: false
jobListenerTypes:
- !!binary |-
  bBts
jobName: j
jobParameter: |-
  a  b
maxTimeDiffSeconds: 0
misfire: true
monitorExecution: true
overwrite: false
props:
  separators: "a\Lc\N"
  control: !!binary |-
    YRtiCg==
reconcileIntervalMinutes: 10
shardingItemParameters: ''
shardingTotalCount: 2
staticSharding: false
`

// What a JVM member's texts say is read, and written so that a JVM member reads it: it takes
// binary properties for something else, and fails at binary listeners.
func TestTextsOfElasticJob(t *testing.T) {
	document := strings.Replace(documentSnake, "a  b", "a\u2028  b", 1)
	want := jobtype.Config{
		Name: "j", Cron: "0 * * * * ?", ShardingTotalCount: 2, Description: "a\x01b", JobParameter: "a\u2028b",
		Listeners: []string{"l\x1bl"}, Props: map[string]string{"separators": "a\u2028c\u0085", "control": "a\x1bb\n"},
	}.WithDefaults()
	got, err := jobtype.DecodeConfig([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want.Cron, got.Cron = "1 * * * * ?", "1 * * * * ?" // or nothing were written
	written, err := got.Encode([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(written), "!!binary") || !strings.Contains(string(written), `description: "a\x01b"`) {
		t.Errorf("written as\n%s", written)
	}
	if again, err := jobtype.DecodeConfig(written); err != nil || !cmp.Equal(want, again) {
		t.Errorf("%s\nis read as %+v, %v", written, again, err)
	}
}

func TestBinaryThatIsNoText(t *testing.T) {
	for _, field := range []string{"description", "jobListenerTypes", "props: x", "cron"} {
		value := fmt.Sprintf("%s: !!binary /w==\n", field)
		if name, isProp := strings.CutPrefix(field, "props: "); isProp {
			value = fmt.Sprintf("props:\n  %s: !!binary /w==\n", name)
		}
		if field == "jobListenerTypes" {
			value = "jobListenerTypes:\n- !!binary /w==\n"
		}
		_, err := jobtype.DecodeConfig([]byte("jobName: j\nshardingTotalCount: 1\n" + value))
		fault := new(jobtype.FieldError)
		if !errors.As(err, &fault) || fault.Field != field || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// To ElasticJob 0 is a check that nearly always fails, and to us it is off. It stays in the document
// until somebody sets the field.
func TestMaxTimeDiffOfZero(t *testing.T) {
	previous := strings.Replace(document3, "maxTimeDiffSeconds: -1", "maxTimeDiffSeconds: 0", 1)
	c, err := jobtype.DecodeConfig([]byte(previous))
	if err != nil || c.MaxTimeDiff != 0 {
		t.Fatalf("%v, %v", c.MaxTimeDiff, err)
	}
	for _, tc := range []struct {
		change func(*jobtype.Config)
		want   string
	}{
		{func(*jobtype.Config) {}, "maxTimeDiffSeconds: 0\n"},
		{func(c *jobtype.Config) { c.Cron = "0 * * * * ?" }, "maxTimeDiffSeconds: 0\n"},
		{func(c *jobtype.Config) { c.MaxTimeDiff = 60e9 }, "maxTimeDiffSeconds: 60\n"},
	} {
		next := c
		tc.change(&next)
		if got, err := next.Encode([]byte(previous)); err != nil || !strings.Contains(string(got), tc.want) {
			t.Errorf("got %s, %v, want %s", got, err, tc.want)
		}
	}
}

// Whatever characters a text has, it is read as it was, in every place.
func TestAnyTextRoundTrip(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\u0085", "\u2028", "\u2029", "\ufeff", "\U0001f600", "\n", "\r", "\t", " ", "\x00", "\x01", "\x1b", "\x7f", "\ufffe", "\ue000", ": ", " #", "- ", "'", `"`, `\N`, "!!binary ", "word word word word"}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(t, "text"), "")
		want := jobtype.Config{
			Name: "j", ShardingTotalCount: 1, Description: text, JobParameter: text + "x", Props: map[string]string{"p": text, "p" + text: "v"},
		}.WithDefaults()
		document, err := want.Encode([]byte(documentSnake))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := jobtype.DecodeConfig(document); err != nil || !cmp.Equal(want, got) {
			t.Fatalf("%s\nis read as %+v, %v", document, got, err)
		}
	})
}
