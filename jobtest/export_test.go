package jobtest

// NewSmallRecorder returns a recorder that keeps no more than that of anything.
func NewSmallRecorder(most int) *Recorder {
	r := NewRecorder()
	r.most = most
	return r
}
