package frozen_test

import (
	"strings"
	"testing"

	"connectorcore/engine/frozen"
	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/proptest/stage"
	"connectorcore/readers"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// frozenBy is what the epoch of a stage froze.
func frozenBy(t *testing.T, s *stage.Stage) (serving.Candidate, owners.Frozen) {
	t.Helper()
	rows := serving.EpochRows{}
	var err error
	if rows.Attestation, _, err = readers.One(t.Context(), s.Reader, schema.EpochAttestations, func(e *serving.EpochAttestation) { e.Epoch = s.Epoch.ID }); err != nil {
		t.Fatal(err)
	}
	if rows.Bindings, err = readers.Many(t.Context(), s.Reader, schema.EpochBindings, []serving.EpochBinding{{Epoch: s.Epoch.ID}}, 1); err != nil {
		t.Fatal(err)
	}
	if rows.Credentials, err = readers.Many(t.Context(), s.Reader, schema.EpochCredentials, []serving.EpochCredential{{Epoch: s.Epoch.ID}}, 1); err != nil {
		t.Fatal(err)
	}
	opened, fault := owners.ReadFrozen(t.Context(), s.Owners.Set(), rows.Candidate())
	if !fault.IsZero() {
		t.Fatal(fault)
	}
	return rows.Candidate(), opened
}

// What an owner has may fit every protocol and still be unable to serve. It is refused with its place, before and after it
// was prepared: a route that depends on order must say of what.
func TestQ05WhatCannotServeIsNotVerified(t *testing.T) {
	s := stage.Serving(t, stage.Batched)
	candidate, sound := frozenBy(t, s)
	if err := frozen.Serves(candidate, sound); err != nil {
		t.Fatal(err)
	}
	rewritten := func(kind serving.BindingKind, old, with string) owners.Frozen {
		opened := sound
		opened.Definitions = append([]owners.Definition{}, sound.Definitions...)
		for i, d := range opened.Definitions {
			if text := string(d.Content.Bytes()); candidate.Bindings[i].Kind == kind && strings.Contains(text, old) {
				opened.Definitions[i].Content = serving.OpaqueOf([]byte(strings.ReplaceAll(text, old, with)))
			}
		}
		return opened
	}
	without := sound
	without.Credentials = map[facts.CredentialGenerationID]owners.CredentialGeneration{}
	for what, c := range map[string]struct {
		opened owners.Frozen
		says   string
	}{
		"an order without positions": {rewritten(serving.InboundRoute, `"position":`, `"positionless":`), "position"},
		"an unproved independence":   {rewritten(serving.InboundRoute, `"proof":"append_only"`, `"proof":""`), "pack "},
		"bytes that mean nothing":    {rewritten(serving.FieldMapping, `{`, `[`), "pack "},
		"a missing credential":       {without, "credential"},
	} {
		if err := frozen.Serves(candidate, c.opened); !errors.Is(err, facts.GenerationMalformed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The tenant's limits are part of the epoch: a channel's own are lowered to them, and never raised.
func TestTheLowerOfTwoLimitsIsTheChannels(t *testing.T) {
	s := stage.ServingWith(t, func(c *owners.Configuration) {
		c.Limits.ComponentsMax, c.Limits.DepthMax, c.Limits.BodyMaxBytes = 7, 9, 1<<40
	}, stage.Batched)
	epoch, err := frozen.Open(t.Context(), s.Reader, s.Owners.Set(), s.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	own := s.Accounts[0].Pack.Channels()[0]
	channel, err := epoch.Channel(s.Accounts[0].ID, own.Name)
	if err != nil {
		t.Fatal(err)
	}
	got := channel.Definition.Limits
	if got.Components != 7 || got.Depth != 9 || got.BodyBytes != own.Limits.BodyBytes || got.KeyBytes != own.Limits.KeyBytes {
		t.Errorf("%+v, the pack's own are %+v", got, own.Limits)
	}
}
