package inbound_test

import (
	"slices"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/inbound"
)

func TestAHeaderIsReadAsItWasStored(t *testing.T) {
	for _, lines := range [][]facts.HeaderLine{{}, {{Name: "a", Value: ""}, {Name: "a", Value: "ü, b"}, {Name: "b", Value: "\x00\xff"}}} {
		stored, err := inbound.EncodeHeader(lines)
		if err != nil {
			t.Fatal(err)
		}
		if read, err := inbound.DecodeHeader(stored); err != nil || !slices.Equal(read, lines) {
			t.Errorf("%v was read as %v, %v", lines, read, err)
		}
	}
	for _, broken := range []string{"", "\x92\x02\x90", "\x92\x01", "x"} {
		if read, err := inbound.DecodeHeader([]byte(broken)); err == nil {
			t.Errorf("%q was read as %v", broken, read)
		}
	}
}
