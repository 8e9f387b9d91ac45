package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger"
	"connectorcore/proptest/world"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// ledgerOf is an epoch's transitions in order.
func (s *scene) ledgerOf(table string, subject any) string {
	s.t.Helper()
	var text string
	ok(s.t, s.store.Admin.QueryRowContext(s.t.Context(), "SELECT IFNULL(GROUP_CONCAT(seq, ' ', edge ORDER BY seq), '') FROM "+table+" WHERE subject_id=?", subject).Scan(&text))
	return text
}

func TestAnEpochThatEveryOwnerConfirmsIsVerified(t *testing.T) {
	s := newScene(t)
	content, ref := s.prepared()
	for range 2 { // the same judgement again is the same answer
		judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: s.contentOf(ref.ID)})
		if err != nil || judged.Cause != nil || judged.State.String() != "verified" || judged.Fence != 2 {
			t.Errorf("%+v, %v", judged, err)
		}
	}
	if got := s.ledgerOf("serving_epoch_ledger", ref.ID); got != "1 verify" {
		t.Errorf("its ledger: %s", got)
	}
	wrong := ref
	wrong.Digest[0]++
	_, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: wrong, Found: content})
	refused(t, "another digest", err, facts.EpochMismatch)
	unknown := s.content()
	_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: facts.EpochRef{ID: unknown.Candidate.Epoch, Digest: ref.Digest}, Found: unknown})
	refused(t, "one that was never prepared", err, facts.SubjectMissing)
	_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: unknown})
	if !errors.HasAssertionFailure(err) {
		t.Errorf("judged by another's candidate: %v", err)
	}
}

// Whatever changes at any owner between preparation and judgement is caught, and the message names it. The epoch is
// rejected with that message as evidence, for good.
func TestP02EveryChangeAtAnOwnerRejectsTheCandidateByName(t *testing.T) {
	s := newScene(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for i, d := range drifts() {
		_, ref := s.prepared()
		before := "1 reject_prepared"
		if i%2 == 1 { // half of them were verified before
			_, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: s.contentOf(ref.ID)})
			ok(t, err)
			before = "1 verify,2 reject_verified"
		}
		found := s.contentOf(ref.ID)
		d.change(&found, random.IntN(1000))
		for range 2 {
			judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: found})
			if err != nil || judged.Cause == nil || !errors.Is(judged.Cause, facts.OwnerDisagrees) || judged.State.String() != "rejected" || !strings.Contains(judged.Cause.Error(), d.want) {
				t.Errorf("%s: %+v, %v; want %q in it", d.name, judged, err, d.want)
			}
		}
		if got := s.ledgerOf("serving_epoch_ledger", ref.ID); got != before {
			t.Errorf("%s: its ledger: %s", d.name, got)
		}
		kept := s.count("SELECT COUNT(*) FROM serving_epoch_ledger WHERE subject_id=? AND LOCATE(?, evidence) > 0", ref.ID, []byte(d.want))
		if kept != 1 {
			t.Errorf("%s: the evidence does not say %q", d.name, d.want)
		}
		_, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: s.contentOf(ref.ID)})
		refused(t, d.name+": verified after its rejection", err, facts.SubjectEnded)
	}
}

// The stored rows count, not what a caller says of them: a row that was changed, added or removed in the store is found
// although the caller brings what was prepared.
func TestP02AnEchoOfTheCandidateIsNoVerification(t *testing.T) {
	s := newScene(t)
	for statement, want := range map[string]string{
		"UPDATE serving_epoch_attestation SET security_epoch=9 WHERE epoch_id=?":                                      "security_epoch",
		"UPDATE serving_epoch_binding SET owner_receipt=CONCAT(owner_receipt, ' ') WHERE ordinal=1 AND epoch_id=?":    "binding 1",
		"UPDATE serving_epoch_binding SET pack_payload=REVERSE(pack_payload) WHERE ordinal=3 AND epoch_id=?":          "binding 3",
		"DELETE FROM serving_epoch_binding WHERE ordinal=3 AND epoch_id=?":                                            "binding 3",
		"DELETE FROM serving_epoch_credential WHERE ordinal=0 AND epoch_id=?":                                         "credential generation",
		"UPDATE serving_epoch_credential SET ordinal=7 WHERE ordinal=1 AND epoch_id=?":                                "ordinal",
		"UPDATE serving_epoch_binding SET runtime_command=NULL, runtime_version=NULL WHERE ordinal=0 AND epoch_id=?":  "runtime_command",
		"UPDATE serving_epoch_credential SET receipt_protocol=CONCAT(receipt_protocol, 'x') WHERE epoch_id=? LIMIT 1": "receipt_protocol",
	} {
		content, ref := s.prepared()
		_, err := s.store.Admin.ExecContext(t.Context(), statement, ref.ID)
		ok(t, err)
		judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: content})
		if err != nil || judged.Cause == nil || !strings.Contains(judged.Cause.Error(), want) {
			t.Errorf("%s: %+v, %v", statement, judged, err)
		}
	}
	content, ref := s.prepared()
	digest := content.Candidate.Epoch // any other 16 bytes
	_, err := s.store.Admin.ExecContext(t.Context(), "UPDATE serving_epoch SET epoch_digest=CONCAT(?, ?) WHERE epoch_id=?", digest, digest, ref.ID)
	ok(t, err)
	changed := facts.EpochRef{ID: ref.ID, Digest: facts.Digest(append(digest[:], digest[:]...))}
	judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: changed, Found: content})
	if err != nil || judged.Cause == nil || !strings.Contains(judged.Cause.Error(), "the digest") {
		t.Errorf("another digest than that of the rows: %+v, %v", judged, err)
	}
	content, ref = s.prepared()
	_, err = s.store.Admin.ExecContext(t.Context(), "DELETE FROM serving_epoch_share WHERE epoch_id=? LIMIT 1", ref.ID)
	ok(t, err)
	_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: content})
	refused(t, "a share less", err, facts.ShareSetDiffers)
}

func TestP02AnAbsentGenerationRejectsByName(t *testing.T) {
	s := newScene(t)
	_, ref := s.prepared()
	absent := ledger.GenerationName{Owner: serving.PushContracts, Name: keyOf[serving.Name](t, "gone")}
	judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Absent: absent})
	if err != nil || judged.Cause == nil || !strings.Contains(judged.Cause.Error(), "push_contracts gone is absent") || judged.State.String() != "rejected" {
		t.Errorf("%+v, %v", judged, err)
	}
	absent.Name = keyOf[serving.Name](t, "another")
	_, err = s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Absent: absent})
	refused(t, "another judgement of a rejected epoch", err, facts.SubjectEnded)
}

func TestP02AnAnswerThatDoesNotOpenRejectsByItsOwnWords(t *testing.T) {
	s := newScene(t)
	_, ref := s.prepared()
	judgement := ledger.Judgement{Epoch: ref, Differs: "credentials g-1: its receipt is not that of its bytes"}
	for range 2 {
		judged, err := s.ledger.JudgeEpoch(t.Context(), judgement)
		if err != nil || judged.Cause == nil || judged.Cause.Detail != judgement.Differs || judged.State.String() != "rejected" {
			t.Errorf("%+v, %v", judged, err)
		}
	}
	if got := s.ledgerOf("serving_epoch_ledger", ref.ID); got != "1 reject_prepared" {
		t.Error(got)
	}
}

// Two coordinators judge at once, one of them by an answer that differs: one edge is taken, and the other is told.
func TestOfTwoJudgementsOneComesFirst(t *testing.T) {
	s := newScene(t)
	for range 6 {
		_, ref := s.prepared()
		found := s.contentOf(ref.ID)
		flip(&found.Candidate.Catalog.View, 1)
		verdict := make(chan error, 1)
		go func() {
			_, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: s.contentOf(ref.ID)})
			verdict <- err
		}()
		judged, err := s.ledger.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: found})
		ok(t, err)
		other := <-verdict
		history := s.ledgerOf("serving_epoch_ledger", ref.ID)
		want := "1 verify,2 reject_verified"
		if other != nil {
			refused(t, "the second", other, facts.SubjectEnded)
			want = "1 reject_prepared"
		}
		if history != want || judged.State.String() != "rejected" {
			t.Errorf("%s after %v, %+v", history, other, judged)
		}
	}
}

func TestR05UnknownJudgementIsSettled(t *testing.T) {
	s := newScene(t)
	proxy := world.NewProxy(t, s.store.Login.Address)
	l := s.open(s.store.PoolAt(t, schema.RoleLedger, proxy.Address(), nil))
	for _, kind := range []world.FaultKind{world.CutBeforeCommit, world.CutAfterCommit} {
		for _, differs := range []bool{false, true} {
			_, ref := s.prepared()
			found := s.contentOf(ref.ID)
			want := "1 verify"
			if differs {
				flip(&found.Candidate.Catalog.View, 1)
				want = "1 reject_prepared"
			}
			fault := proxy.Arm(kind, 1)
			judged, err := l.JudgeEpoch(t.Context(), ledger.Judgement{Epoch: ref, Found: found})
			<-fault.Fired()
			if got := s.ledgerOf("serving_epoch_ledger", ref.ID); err != nil || got != want || judged.Fence != 2 || (judged.Cause != nil) != differs {
				t.Errorf("%s: %s, %+v, %v", fmt.Sprint(kind, differs), got, judged, err)
			}
		}
	}
}
