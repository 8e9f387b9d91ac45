package platform

import (
	"strings"
	"sync"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"

	"github.com/cockroachdb/errors"
)

func TestAVersionOfADefinitionHasOneContentForEver(t *testing.T) {
	i := founded(t)
	first, same, other := i.packOf(t, "pack", serving.FieldMapping), i.packOf(t, "pack", serving.FieldMapping), i.packOf(t, "pack", serving.FieldMapping)
	other.Definitions[0].Canonical = []byte("another definition")
	must(t, i.PublishPack(t.Context(), first))
	must(t, i.PublishPack(t.Context(), same))
	refused := func(when string) {
		t.Helper()
		before := i.all(t)
		err := i.PublishPack(t.Context(), other)
		if !errors.Is(err, facts.ContentDiffers) || !strings.Contains(err.Error(), "pack pack, field_mapping contact 1") || !strings.Contains(err.Error(), first.Generation.String()) {
			t.Errorf("%s: %v", when, err)
		}
		if installed, err := i.Installed(t.Context(), other.Generation); err != nil || installed || i.all(t) != before {
			t.Errorf("%s: it is installed %v, rows went from %v to %v, %v", when, installed, before, i.all(t), err)
		}
	}
	refused("while both are installed")
	must(t, i.UninstallPack(t.Context(), first.Generation))
	must(t, i.UninstallPack(t.Context(), same.Generation))
	refused("after both were uninstalled")
	must(t, i.PublishPack(t.Context(), first))
	if installed, err := i.Installed(t.Context(), first.Generation); err != nil || !installed {
		t.Errorf("what was uninstalled is not installed again: %v", err)
	}
	other.Definitions[0].Version = key[facts.DefinitionVersion](t, "2")
	must(t, i.PublishPack(t.Context(), other))
	elsewhere := i.packOf(t, "another pack", serving.FieldMapping)
	elsewhere.Definitions[0].Canonical = []byte("another definition")
	must(t, i.PublishPack(t.Context(), elsewhere)) // a name means something within its pack only
}

// Of many packs that bring one version with different bytes at once, exactly one does, and no other leaves a row.
func TestOneOfManyPacksBringsAVersion(t *testing.T) {
	i := founded(t)
	packs := make([]Pack, 6)
	outcome := make([]error, len(packs))
	for n := range packs {
		packs[n] = i.packOf(t, "pack", serving.InboundRoute, serving.PushContract)
		packs[n].Definitions[1].Canonical = []byte(packs[n].Generation.String())
	}
	var together sync.WaitGroup
	for n := range packs {
		together.Go(func() { outcome[n] = i.PublishPack(t.Context(), packs[n]) })
	}
	together.Wait()
	done := 0
	for n, err := range outcome {
		if err == nil {
			done++
		} else if !errors.Is(err, facts.WrongState) && !errors.Is(err, facts.ContentDiffers) {
			t.Errorf("pack %d: %v", n, err)
		}
		if installed, fault := i.Installed(t.Context(), packs[n].Generation); fault != nil || installed != (err == nil) {
			t.Errorf("pack %d: it ended with %v and is installed: %v, %v", n, err, installed, fault)
		}
	}
	if rows := i.rows(t, "owner_generation"); done != 1 || rows != 3 {
		t.Errorf("%d packs brought the version and left %d generations, want 1 and 3", done, rows)
	}
}

func TestFoundingTakesTheDeploymentThatStands(t *testing.T) {
	i := founded(t)
	wanted := deploymentOf(t) // with another id
	stands, err := Found(t.Context(), i.ledger, i.reader, wanted)
	if err != nil || stands.ID != i.Deployment().ID {
		t.Errorf("the deployment is %s, want %s, %v", stands.ID, i.Deployment().ID, err)
	}
	wanted.Workload = key[facts.Workload](t, "other")
	if _, err := Found(t.Context(), i.ledger, i.reader, wanted); !errors.Is(err, facts.ContentDiffers) {
		t.Errorf("another workload: %v", err)
	}
	wanted.Destinations = nil
	if _, err := Found(t.Context(), i.ledger, i.reader, wanted); !errors.Is(err, facts.ConfigurationInvalid) {
		t.Errorf("no destination: %v", err)
	}
}
