package bench

import (
	"bytes"
	"net/http"
	"testing"

	"connectorcore/facts"
)

func TestEachKeyIsSentInSequenceByOneSenderAndOneInTenComesAgain(t *testing.T) {
	for _, w := range Workloads {
		last, owner := map[[2]int]int{}, map[[2]int]int{}
		numbers, again := map[int]bool{}, 0
		for sender, all := range w.plan(2000, 7) {
			sent := map[int]int{}
			for place, d := range all {
				slot := [2]int{d.account, d.key}
				if d.account >= w.Accounts || d.key >= w.Keys {
					t.Fatalf("%s: there is no account %d with key %d", w.Name, d.account, d.key)
				}
				if d.again {
					again++
					if first, before := sent[d.number]; !before || place-first > 2*reach {
						t.Errorf("%s: %d comes again at %d, and first at %d (%t)", w.Name, d.number, place, first, before)
					}
					continue
				}
				if own, known := owner[slot]; known && own != sender {
					t.Fatalf("%s: key %v has two senders", w.Name, slot)
				}
				if d.seq != last[slot]+1 {
					t.Fatalf("%s: key %v goes from %d to %d", w.Name, slot, last[slot], d.seq)
				}
				owner[slot], last[slot], sent[d.number], numbers[d.number] = sender, d.seq, place, true
			}
		}
		if len(numbers) != 2000 || again != 200 {
			t.Errorf("%s: %d deliveries and %d redeliveries", w.Name, len(numbers), again)
		}
	}
}

func TestABodyIsAsLongAsTheWorkloadSaysAndARedeliveryIsTheSameBytes(t *testing.T) {
	account := facts.Mint[facts.AccountID]()
	first, err := delivery{number: 5, key: 3, seq: 12}.body(account)
	if err != nil {
		t.Fatal(err)
	}
	second, err := delivery{number: 5, key: 3, seq: 12, again: true}.body(account)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != bodyBytes || !bytes.Equal(first, second) {
		t.Errorf("%d bytes, %d again", len(first), len(second))
	}
}

func TestAReportIsOfTheTimesThatTheProcessesTell(t *testing.T) {
	r := &Report{}
	r.times([]Sent{
		{Delivery: "a", Began: 1_000_000, Answered: 1_010_000, Status: http.StatusAccepted, Tries: 1},
		{Delivery: "b", Began: 1_020_000, Answered: 1_050_000, Status: http.StatusAccepted, Tries: 3},
		{Delivery: "a", Again: true, Began: 1_500_000, Answered: 1_520_000, Status: http.StatusOK, Tries: 1},
		{Delivery: "b", Again: true, Began: 1_600_000, Answered: 1_620_000, Status: http.StatusAccepted, Tries: 1},
	}, []completed{{"a", 1_200_000}, {"b", 3_000_000}})
	if r.OpsPerS != 1 || r.AdmitP50 != 20 || r.AdmitP99 != 30 || r.E2EP50 != 1980 || r.Tries != 2 || r.Redelivered != 2 || r.Anew != 1 {
		t.Errorf("%+v", r)
	}
}

func TestAStatementIsOfTheKindThatItsTextSays(t *testing.T) {
	for text, want := range map[string]string{
		"insert into `receipt` ( `receipt_id` ) values ( ... )":                  "insert receipt",
		"select `a` , `b` from `execution_head` where `a` in ( ... ) for update": "lock execution_head",
		"select `digest` from `serving_epoch` where `epoch_id` = ?":              "select serving_epoch",
		"update `state` set `seq` = ?":                                           "update state",
		"delete from `execution_head` where ( `a` ) in ( ( ... ) )":              "delete execution_head",
		"commit": "commit", "start transaction": "start", "": "",
	} {
		if got := kindOf(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
