package jobtype_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// BenchmarkDecodeConfig reads what each event of a configuration brings.
func BenchmarkDecodeConfig(b *testing.B) {
	for name, document := range map[string]string{"usual": document3, "full": document3Full} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := jobtype.DecodeConfig([]byte(document)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	c, _ := jobtype.DecodeConfig([]byte(document3))
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Encode(nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("equal", func(b *testing.B) {
		for b.Loop() {
			if !c.Equal(c) {
				b.Fatal()
			}
		}
	})
	b.Run("defaults", func(b *testing.B) {
		for b.Loop() {
			_ = c.WithDefaults()
		}
	})
}
