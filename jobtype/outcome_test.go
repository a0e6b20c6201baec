package jobtype_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestSources(t *testing.T) {
	for source, want := range map[jobtype.Source]string{
		jobtype.SourceNormal: "NORMAL_TRIGGER", jobtype.SourceMisfire: "MISFIRE", jobtype.SourceFailover: "FAILOVER", jobtype.SourceManual: "MANUAL", 0: "UNKNOWN", 9: "UNKNOWN",
	} {
		if got := source.String(); got != want {
			t.Errorf("%d: %s, want %s", int(source), got, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for o := jobtype.OutcomeOK; o <= jobtype.OutcomeSkipped; o++ {
		if got := jobtype.OutcomeOf(o.String()); got != o {
			t.Errorf("%v is read as %v", o, got)
		}
	}
	if got := jobtype.OutcomeOf("UNKNOWN"); got != 0 {
		t.Errorf("UNKNOWN is read as %v", got)
	}
}
