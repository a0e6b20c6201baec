package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	playRole()
	goleak.VerifyTestMain(m)
}
