package turns

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"connectorcore/facts"
)

// BenchmarkItem is what the queue costs an item when the transaction costs nothing.
func BenchmarkItem(b *testing.B) {
	take := func(_ context.Context, _ facts.AccountID, items []job) ([]string, error) {
		return make([]string, len(items)), nil
	}
	open := func(b *testing.B) *Turns[job, string] {
		turns, err := New(Options{Kinds: threeKinds}, take)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := turns.Close(context.Background()); err != nil {
				b.Error(err)
			}
		})
		return turns
	}
	b.Run("one caller", func(b *testing.B) {
		turns := open(b)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := turns.Do(b.Context(), one, admission, job{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, accounts := range []int{1, 64} {
		b.Run(fmt.Sprintf("16 callers, accounts=%d", accounts), func(b *testing.B) {
			turns := open(b)
			b.ReportAllocs()
			var callers sync.WaitGroup
			for caller := range 16 {
				callers.Go(func() {
					for i := caller; i < b.N; i += 16 {
						if _, err := turns.Do(b.Context(), accountNumber(i%accounts), Kind(i%3), job{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
		})
	}
	b.Run("posted in hundreds", func(b *testing.B) {
		turns := open(b)
		b.ReportAllocs()
		var open sync.WaitGroup
		for i := range b.N {
			open.Add(1)
			if err := turns.Post(one, Kind(i%3), job{}, func(string, error) { open.Done() }); err != nil {
				b.Fatal(err)
			}
			if i%100 == 99 {
				open.Wait()
			}
		}
		open.Wait()
	})
}
