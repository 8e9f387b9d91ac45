package turn

import (
	"connectorcore/facts"
	"connectorcore/facts/inbound"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/schema"
)

// admit decides every admission. Of two with one key in one turn the first counts and the second is compared with it.
func (t *turn) admit() error {
	asked, err := t.asked()
	if err != nil || len(asked) == 0 {
		return err
	}
	parents := make([]inbound.AdmissionKey, len(asked))
	for i, a := range asked {
		parents[i] = a.key
	}
	there, err := txn.Children(t.tx, schema.AdmissionKeys, parents, 2)
	if err != nil {
		return err
	}
	bound := map[facts.Digest]inbound.AdmissionKey{}
	for _, key := range there {
		bound[key.Key] = key
	}
	revoked, err := t.revoked(asked)
	if err != nil {
		return err
	}
	var bringing []contentOf
	for _, a := range asked {
		ask := t.items[a.item].Admit
		before, known := bound[a.key.Key]
		mine := known && before.Receipt == ask.Receipt
		switch {
		case t.refuses(a.item, t.second()):
		case !known && t.refuses(a.item, t.serves(ask.Premise)):
		case !mine && revoked[ask.Credential]: // a redelivery too: whoever signed it is nobody that is known (R43)
			t.verdicts[a.item].Refusal = facts.Refuse(facts.Revoked, facts.OfCredential(ask.Credential), "the delivery was verified with it")
		case known && !mine:
			t.redelivered(a, ask, before)
		default:
			if !mine {
				bound[a.key.Key] = a.key
				t.rows.keys = append(t.rows.keys, a.key)
			}
			t.verdicts[a.item].Receipt = ask.Receipt
			c := contentOf{item: a.item, derived: t.derived[a.item], claim: ask.Claim, fence: ask.Fence, done: mine}
			if ask.Content != nil {
				c.profile = ask.Content.Profile
			}
			bringing = append(bringing, c)
		}
	}
	return t.accept(bringing)
}

// askedAdmission is an admission with its key.
type askedAdmission struct {
	item int
	key  inbound.AdmissionKey
}

func (t *turn) asked() ([]askedAdmission, error) {
	var all []askedAdmission
	for i, item := range t.items {
		if item.Admit == nil {
			continue
		}
		// The profile of a transport identity is the one that authors: the key outlives every epoch.
		author, err := facts.ProfileV2.Author()
		if err != nil {
			return nil, err
		}
		ask := item.Admit
		all = append(all, askedAdmission{i, inbound.AdmissionKey{Account: t.account, Key: author.AdmissionKey(t.account, ask.Channel, ask.TransportKey),
			Receipt: ask.Receipt, Admitted: ask.Admitted, Body: author.ReceiptBody(ask.Body)}})
	}
	return all, nil
}

// revoked tells which of the credential generations are revoked now (R43).
func (t *turn) revoked(asked []askedAdmission) (map[facts.CredentialGenerationID]bool, error) {
	var ids []facts.CredentialGenerationID
	for _, a := range asked {
		if id := t.items[a.item].Admit.Credential; !id.IsZero() {
			ids = append(ids, id)
		}
	}
	stand, err := txn.Standing(t.tx, schema.CredentialGates, ids)
	revoked := map[facts.CredentialGenerationID]bool{}
	for _, id := range ids {
		revoked[id] = stand[id].State != machines.CredentialGenerationDispatchGateEnabled
	}
	return revoked, err
}

func (t *turn) refuses(item int, refusal *facts.Refusal) bool {
	if refusal != nil {
		t.verdicts[item].Refusal = refusal
	}
	return refusal != nil
}

// redelivered answers a delivery under a key that is bound to another Receipt: the same again, or a conflict. Whatever is
// not the same byte for byte is kept as evidence. It needs no gate that serves: the key was bound before.
func (t *turn) redelivered(a askedAdmission, ask *Admission, before inbound.AdmissionKey) {
	verdict := &t.verdicts[a.item]
	verdict.Receipt, verdict.Duplicate = before.Receipt, true
	answer := inbound.AnsweredDuplicate
	if before.Admitted != a.key.Admitted {
		answer = inbound.AnsweredConflict
		verdict.Duplicate = false
		verdict.Refusal = facts.Refuse(facts.ContentDiffers, facts.OfReceipt(t.receiptKey(before.Receipt)), "it came under the same transport key")
	}
	if answer == inbound.AnsweredConflict || before.Body != a.key.Body {
		t.rows.redeliveries = append(t.rows.redeliveries, inbound.Redelivery{Receipt: before.Receipt, Body: a.key.Body, Account: t.account,
			Answer: answer, Raw: ask.Body, Header: ask.Header})
	}
}

// accept writes the Receipts of the admissions that are new, each with as much of its content as there is room for: all
// or nothing.
func (t *turn) accept(bringing []contentOf) error {
	if err := t.load(bringing); err != nil {
		return err
	}
	for _, c := range bringing {
		ask := t.items[c.item].Admit
		whole := ask.Content != nil && !ask.Content.Open
		if !c.done {
			t.room.bytes -= len(ask.Body) // it is written in any case
		}
		if ask.Content != nil && !c.done && !t.room.holds(c.takes()) {
			c.derived, whole = nil, false
		}
		written := t.bring(c, nil)
		if c.done {
			continue
		}
		receipt := inbound.Receipt{ID: ask.Receipt, Account: t.account, Epoch: ask.Epoch.ID, Channel: ask.Channel, TransportKey: ask.TransportKey,
			Body: ask.Body, Header: ask.Header, Credential: ask.Credential, Member: ask.Member, Birth: inbound.BornOpen}
		if whole && written == len(c.derived) {
			receipt.Birth = inbound.BornWhole
			t.rows.whole = append(t.rows.whole, receipt)
		} else {
			t.rows.open = append(t.rows.open, receipt)
		}
	}
	return nil
}
