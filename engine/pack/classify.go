package pack

import (
	"github.com/cockroachdb/errors"

	"connectorcore/engine/pack/expr"
	"connectorcore/facts"
)

// Answer is a provider's answer as a whole. An answer of which a part is missing is none.
type Answer struct {
	Status int
	Header []Line
	Body   []byte
}

// Verdict is what an answer proves.
type Verdict string

// The verdicts. NoEffect ends the effect; TryAgain is no effect either, and the schedule goes on.
const (
	Confirmed Verdict = "confirmed"
	NoEffect  Verdict = "no_effect"
	TryAgain  Verdict = "retry"
	Uncertain Verdict = "uncertain"
)

// Classify says what an answer proves under the frozen contract, and which remote object it names. It errs to the
// side of Uncertain: where no outcome describes the answer, where a condition cannot be evaluated, and where the
// contract wants an identity that the answer does not give. There is no verdict about a call without an answer.
//
// Spec: Outbound facts; Layer contract (remote-effect classification).
func (p *Push) Classify(intent Intent, answer Answer) (Verdict, facts.RemoteIdentity, error) {
	in, err := intent.answered(answer)
	if err != nil {
		return Uncertain, facts.RemoteIdentity{}, err
	}
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if int64(answer.Status) < o.From || int64(answer.Status) > o.To {
			continue
		}
		holds, err := o.When.Bool(in)
		if err != nil {
			// A condition that cannot be read may be the one that holds, so nothing behind it is tried.
			return Uncertain, facts.RemoteIdentity{}, err
		}
		if !holds {
			continue
		}
		if Verdict(o.Outcome) != Confirmed || p.Identity == nil {
			return Verdict(o.Outcome), facts.RemoteIdentity{}, nil
		}
		return p.identified(&p.Identity.Value, in)
	}
	return Uncertain, facts.RemoteIdentity{}, nil
}

// Reconciled says what the answer to the contract's query proves: Confirmed, NoEffect, or nothing new.
func (p *Push) Reconciled(intent Intent, answer Answer) (Verdict, facts.RemoteIdentity, error) {
	if p.Reconcile == nil {
		return Uncertain, facts.RemoteIdentity{}, errors.AssertionFailedf("the push contract %s has no reconciliation", p.Name)
	}
	in, err := intent.answered(answer)
	if err != nil {
		return Uncertain, facts.RemoteIdentity{}, err
	}
	found, err := p.Reconcile.Found.Bool(in)
	if err != nil {
		return Uncertain, facts.RemoteIdentity{}, err
	}
	if found {
		if p.Reconcile.Identity.IsZero() {
			return Confirmed, facts.RemoteIdentity{}, nil
		}
		return p.identified(&p.Reconcile.Identity, in)
	}
	if p.Reconcile.Absent.IsZero() {
		return Uncertain, facts.RemoteIdentity{}, nil
	}
	absent, err := p.Reconcile.Absent.Bool(in)
	if err != nil || !absent {
		return Uncertain, facts.RemoteIdentity{}, err
	}
	return NoEffect, facts.RemoteIdentity{}, nil
}

func (p *Push) identified(value *expr.Expression, in expr.Inputs) (Verdict, facts.RemoteIdentity, error) {
	identity, err := expr.EvalKey[facts.RemoteIdentity](value, in, facts.KeyMaxBytes)
	if err != nil && p.Identity != nil && p.Identity.Presence == "required" {
		return Uncertain, facts.RemoteIdentity{}, err
	}
	return Confirmed, identity, nil
}

// answered adds an answer to the variables of its intent. A body that is no JSON is null.
func (i Intent) answered(answer Answer) (expr.Inputs, error) {
	in, err := i.inputs()
	if err != nil {
		return nil, err
	}
	_, in["headers"], _ = joined(answer.Header)
	in["status"] = expr.Whole(int64(answer.Status))
	in["body"] = expr.Value{}
	if body, err := expr.Decode(answer.Body, intentDepth); err == nil {
		in["body"] = body
	}
	return in, nil
}
