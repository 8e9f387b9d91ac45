package ledger

import (
	"fmt"
	"slices"

	"connectorcore/facts"
	"connectorcore/facts/serving"
	"connectorcore/ledger/internal/txn"
	"connectorcore/machines"
	"connectorcore/readers/owners"
	"connectorcore/schema"

	"github.com/cockroachdb/errors"
)

// EpochContent is everything that one epoch freezes, as it was read at the owners.
type EpochContent struct {
	Candidate serving.Candidate
	// Configured are the credential generations that the configuration generation references, in any order.
	Configured []facts.CredentialGenerationID
	// Accounts are the exhaustive set of the configuration generation, in ascending order, each once.
	Accounts []facts.AccountID
}

// EpochStanding is where an epoch stands after a transaction.
type EpochStanding struct {
	Epoch facts.EpochRef
	State machines.ServingEpochState
	Fence facts.Fence
}

// frozenEpoch is an EpochContent as rows.
type frozenEpoch struct {
	EpochContent
	rows   serving.EpochRows
	fact   facts.ServingEpoch
	shares []facts.EpochShare
}

// freeze checks a content whole and makes its rows.
//
// Refuses: GenerationMalformed.
func (c EpochContent) freeze() (frozenEpoch, error) {
	f := frozenEpoch{EpochContent: c}
	author, err := serving.AuthorOf(facts.ProfileV2)
	if err != nil {
		return f, err
	}
	ids, err := facts.ProfileV2.Author()
	if err != nil {
		return f, err
	}
	if err := c.Candidate.Check(author, c.Configured); err != nil {
		return f, err
	}
	if f.rows, err = c.Candidate.Rows(); err != nil {
		return f, err
	}
	id := c.Candidate.Epoch
	f.fact = facts.ServingEpoch{ID: id, Profile: facts.ProfileV2, Digest: author.Epoch(c.Candidate).Digest,
		ShareCount: uint64(len(c.Accounts)), SharesDigest: ids.ShareSet(id, c.Accounts)}
	if len(c.Accounts) == 0 || f.fact.SharesDigest.IsZero() {
		return f, facts.Refuse(facts.GenerationMalformed, facts.OfInput("candidate epoch, accounts"), "the set is empty, or not in ascending order, each account once")
	}
	f.shares = c.shares()
	return f, nil
}

func (c EpochContent) shares() []facts.EpochShare {
	all := make([]facts.EpochShare, len(c.Accounts))
	for i, account := range c.Accounts {
		all[i] = facts.EpochShare{Epoch: c.Candidate.Epoch, Account: account}
	}
	return all
}

// ref is the epoch's exact reference.
func (f frozenEpoch) ref() facts.EpochRef {
	return facts.EpochRef{ID: f.fact.ID, Digest: f.fact.Digest}
}

// generations are the owners' generations that the epoch references, by their owners' names of them.
func (f frozenEpoch) generations() ([]GenerationName, error) {
	c := f.Candidate
	view, err := owners.ViewName(c.Catalog.Revision)
	if err != nil {
		return nil, err
	}
	configuration, err := owners.ConfigurationName(c.Configuration.Generation)
	if err != nil {
		return nil, err
	}
	all := []GenerationName{{serving.Catalog, view}, {serving.Configuration, configuration}}
	for _, b := range c.Bindings {
		name, err := owners.DefinitionName(b.BindingIdentity)
		if err != nil {
			return nil, err
		}
		all = append(all, GenerationName{b.Kind.Owner(), name})
	}
	for _, p := range c.Credentials {
		name, err := owners.CredentialName(p.Generation)
		if err != nil {
			return nil, err
		}
		all = append(all, GenerationName{serving.Credentials, name})
	}
	return all, nil
}

// fault names the first place at which a content that was read afresh is not the one that was prepared, byte for byte;
// it is empty if there is none. A content that contradicts itself differs from every prepared one.
func (c EpochContent) fault(tx *txn.Tx, prepared facts.ServingEpoch) (string, error) {
	author, err := serving.AuthorOf(prepared.Profile)
	if err != nil {
		return "", err
	}
	rows, err := c.Candidate.Rows()
	if err != nil {
		return malformedFault(err)
	}
	id := prepared.ID
	look := comparison{tx: tx}
	compareRows(&look, schema.EpochAttestations, serving.EpochAttestation{Epoch: id}, []serving.EpochAttestation{rows.Attestation})
	compareRows(&look, schema.EpochBindings, serving.EpochBinding{Epoch: id}, rows.Bindings)
	compareRows(&look, schema.EpochCredentials, serving.EpochCredential{Epoch: id}, rows.Credentials)
	if look.fault == "" && look.err == nil {
		look.shares(id, c.shares())
	}
	switch {
	case look.err != nil || look.fault != "":
		return look.fault, look.err
	case author.Epoch(c.Candidate).Digest != prepared.Digest:
		return "the digest of the prepared rows is not the one that was prepared", nil
	}
	return malformedFault(c.Candidate.Check(author, c.Configured))
}

// malformedFault makes a fault of a refusal, and leaves every other error as it is.
func malformedFault(err error) (string, error) {
	var refusal *facts.Refusal
	if errors.As(err, &refusal) {
		return err.Error(), nil
	}
	return "", err
}

// comparison looks at one table after the other until it has found a fault.
type comparison struct {
	tx    *txn.Tx
	fault string
	err   error
}

func compareRows[R fmt.Stringer](c *comparison, rows schema.Rows[R], parent R, fresh []R) {
	if c.err != nil || c.fault != "" {
		return
	}
	first, err := txn.Compare(c.tx, rows, parent, 1, fresh)
	switch {
	case err != nil:
		c.err = err
	case first == nil:
	case first.Stored:
		c.fault = fmt.Sprintf("row %d of %s was prepared, and no owner has it now", first.At, first.Table)
	case first.Column == "":
		c.fault = fmt.Sprintf("%s was not prepared", fresh[first.At])
	default:
		c.fault = fmt.Sprintf("%s: %s is not what was prepared", fresh[first.At], first.Column)
	}
}

func (c *comparison) shares(id facts.EpochID, fresh []facts.EpochShare) {
	first, err := txn.Compare(c.tx, schema.EpochShares, facts.EpochShare{Epoch: id}, 1, fresh)
	switch {
	case err != nil:
		c.err = err
	case first == nil:
	case first.Stored:
		c.fault = fmt.Sprintf("share %d was prepared, and the configuration has no such account now", first.At)
	default:
		c.fault = fmt.Sprintf("share %d is not of account %s, which the configuration has there now", first.At, fresh[first.At].Account)
	}
}

// exactly tells whether the accounts are the epoch's whole set of shares.
func exactly(epoch facts.ServingEpoch, accounts []facts.AccountID) error {
	author, err := epoch.Profile.Author()
	if err != nil {
		return err
	}
	if uint64(len(accounts)) != epoch.ShareCount || author.ShareSet(epoch.ID, accounts) != epoch.SharesDigest {
		return facts.Refuse(facts.ShareSetDiffers, facts.OfEpoch(epoch.ID), "it has %d shares, and the %d accounts that were named are not theirs", epoch.ShareCount, len(accounts))
	}
	return nil
}

// strangers refuses gates that are outside of the set: each of the service moves, or none.
func strangers(tx *txn.Tx, epoch facts.EpochID, accounts []facts.AccountID) error {
	all, err := txn.Whole(tx, schema.AccountServingGates)
	if err != nil {
		return err
	}
	for _, gate := range all {
		if _, within := slices.BinarySearchFunc(accounts, gate.Account, facts.AccountID.Compare); !within {
			return facts.Refuse(facts.ShareSetDiffers, facts.OfEpoch(epoch), "account %s has a gate and no share", gate.Account)
		}
	}
	return nil
}
