package turns

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNoKindStarvesHoweverMuchOfTheOthersArrives holds the bound of doc.go against lines that are never empty, with
// items of any size and kinds that share turns or do not.
func TestNoKindStarvesHoweverMuchOfTheOthersArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := Size{Items: 20, Rows: 100, Bytes: 1000}
		rules := []KindRule{{Name: exclusiveName, Weight: rapid.IntRange(1, 20).Draw(t, "weight"), Alone: true}}
		for i := range rapid.IntRange(1, 4).Draw(t, "kinds") {
			rules = append(rules, KindRule{fmt.Sprint("kind ", i), rapid.IntRange(1, 20).Draw(t, "weight"), rapid.Bool().Draw(t, "alone")})
		}
		lightest := slices.MinFunc(rules, func(x, y KindRule) int { return x.Weight - y.Weight }).Weight
		a := newAccount[job, string](one, rules, bound)
		largest := make([]Size, len(rules))
		for i := range rules {
			largest[i] = Size{1, rapid.IntRange(0, 100).Draw(t, "rows"), rapid.IntRange(0, 1000).Draw(t, "bytes")}
		}
		var seq uint64
		refill := func() {
			for i := range rules {
				for a.lines[i].size.Items < 25 {
					seq++
					e := &entry[job, string]{line: i, seq: seq, size: Size{1, rapid.IntRange(0, largest[i].Rows).Draw(t, "rows"), rapid.IntRange(0, largest[i].Bytes).Draw(t, "bytes")}}
					e.cost = e.size.share(bound)
					if i == 0 {
						e.size, e.cost = Size{Items: 1}, 1
						e.alone = noTransaction
					}
					a.push(e)
				}
			}
		}
		given := make([]float64, len(rules)) // in turns, by weight
		turns := rapid.IntRange(1, 60).Draw(t, "turns")
		for range turns {
			refill()
			batch := a.fill()
			checkBatch(t, batch, rules, bound)
			for _, e := range batch {
				given[e.line] += e.cost / float64(rules[e.line].Weight)
			}
			if gap := slices.Max(given) - slices.Min(given); gap > 3/float64(lightest)+1e-9 {
				t.Fatalf("after these turns the kinds were given %v by weight, a gap of %v with the smallest weight %d", given, gap, lightest)
			}
		}
	})
}

func checkBatch(t *rapid.T, batch []*entry[job, string], rules []KindRule, bound Size) {
	if len(batch) == 0 {
		t.Fatal("a turn is empty although items wait")
	}
	var sum Size
	for i, e := range batch {
		sum = sum.plus(e.size)
		if e.line != batch[0].line && (rules[e.line].Alone || rules[batch[0].line].Alone) {
			t.Fatal("a kind that is alone shares a turn")
		}
		if i > 0 && (batch[i-1].line > e.line || batch[i-1].line == e.line && batch[i-1].seq >= e.seq) {
			t.Fatal("a turn is not grouped by kind, in the order of arrival")
		}
	}
	if !sum.within(bound) || batch[0].line == 0 && len(batch) != 1 {
		t.Fatalf("a turn of %d items is %+v, more than %+v", len(batch), sum, bound)
	}
}

func TestUnderLoadEachKindHasItsPartOfEveryTurn(t *testing.T) {
	b := newBench(t, Options{Turn: Size{Items: 21}, Account: Size{Items: 210}})
	b.post(one, claim, "first")
	turn := b.next()
	for range 100 {
		b.post(one, admission, "admission") // the flood was there before the rest
	}
	for range 100 {
		b.post(one, claim, "claim")
		b.post(one, completion, "completion")
	}
	for range 6 {
		turn.ok()
		turn = b.next()
		counts := [3]int{}
		for _, item := range turn.items {
			counts[item.kind]++
		}
		if counts != [3]int{completion: 16, claim: 4, admission: 1} {
			t.Fatalf("a turn holds %v completions, claims and admissions, want 16, 4 and 1", counts)
		}
	}
	turn.ok()
}

func TestAKindThatWasAwayHasSavedNothing(t *testing.T) {
	a := newAccount[job, string](one, []KindRule{{Name: "x", Weight: 1}, {Name: "y", Weight: 1}}, Size{10, 10, 10})
	push := func(line, count int) {
		for range count {
			a.push(&entry[job, string]{line: line, size: Size{Items: 1}, cost: 0.1})
		}
	}
	push(1, 1000)
	for range 50 {
		a.fill()
	}
	push(0, 100)
	mine := 0
	for _, e := range a.fill() {
		if e.line == 0 {
			mine++
		}
	}
	if mine != 5 {
		t.Fatalf("a kind that waited for nothing gets %d of 10 places beside one of its weight, want 5", mine)
	}
}
