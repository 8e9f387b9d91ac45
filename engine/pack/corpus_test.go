package pack

import (
	"path/filepath"
	"sync"
	"testing"

	"connectorcore/engine/pack/corpora"
)

// corpus is the published deliveries of the provider of one shipped pack.
type corpus struct {
	corpora.Corpora
	pack *Pack
}

// real is one published delivery.
type real struct {
	name     string
	delivery Delivery
}

// corpusOf finds the pack that names corpora.
func corpusOf(t testing.TB) corpus {
	t.Helper()
	for _, name := range shipped(t) {
		named, any, err := corpora.Named(filepath.Join(packsFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		if any {
			return corpus{named, compiledPack(t, folderOf(name))}
		}
	}
	t.Fatal("no pack names a corpus of real deliveries")
	return corpus{}
}

var fetching sync.Mutex

func (c corpus) examples(t testing.TB) []real {
	t.Helper()
	fetching.Lock()
	defer fetching.Unlock()
	all, err := c.Examples(t.Context())
	return readable(t, all, err)
}

func (c corpus) captures(t testing.TB) []real {
	t.Helper()
	all, err := c.Captures(t.Context())
	return readable(t, all, err)
}

func readable(t testing.TB, all []corpora.Real, err error) []real {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	made := make([]real, len(all))
	for i, one := range all {
		made[i] = real{one.Name, Delivery{Body: one.Body}}
		for _, line := range one.Header {
			made[i].delivery.Header = append(made[i].delivery.Header, Line(line))
		}
	}
	return made
}
