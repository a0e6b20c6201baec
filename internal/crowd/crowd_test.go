package crowd_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/crowd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlant(t *testing.T) {
	s := memory.NewStore(memory.Options{})
	t.Cleanup(s.Close)
	reg, err := s.Dial(t.Context(), memory.Config{Namespace: "crowd"})
	if err != nil {
		t.Fatal(err)
	}
	if err := crowd.PlantLarge(t.Context(), reg, 50); err != nil {
		t.Error(err)
	}
	nodes, err := crowd.Plant(t.Context(), reg, 100)
	if err != nil || nodes != 7*100+3*550+2 {
		t.Errorf("%d nodes, %v", nodes, err)
	}
	if _, err := reg.Get(t.Context(), crowd.Name(99).Config()); err != nil {
		t.Error(err)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
