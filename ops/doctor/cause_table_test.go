package doctor

import "testing"

// No symptom follows from itself: a cause stands below all rows that have it as an effect.
func TestCausesAreInOrder(t *testing.T) {
	isCause := map[Kind]bool{}
	for _, c := range causes() {
		isCause[c.of] = true
		for _, e := range c.effects {
			if isCause[e] {
				t.Errorf("%s follows from %s, and is a cause already", e, c.of)
			}
		}
	}
}
