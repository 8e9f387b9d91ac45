package provider

import (
	"context"

	"connectorcore/engine/pack"
	"connectorcore/engine/pack/corpora"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// Corpora are the published deliveries that a pack's samples/corpora.yaml names, each under a delivery id of its own.
// They are fetched into the user's cache once. Of a pack that names none there are none.
//
// What could not be fetched is told by the error; whatever was there is returned beside it, and Samples need no network.
func Corpora(ctx context.Context, folder string) ([]Delivery, error) {
	named, any, err := corpora.Named(folder)
	if err != nil || !any {
		return nil, err
	}
	channel, err := facts.ParseKey[facts.Channel](named.Channel)
	if err != nil {
		return nil, errors.Wrap(err, "provider: the channel of the corpora")
	}
	examples, failed := named.Examples(ctx)
	captures, err := named.Captures(ctx)
	var all []Delivery
	for _, one := range append(captures, examples...) {
		delivery := Delivery{Name: one.Name, Channel: channel, Body: one.Body}
		for _, line := range one.Header {
			delivery.Header = append(delivery.Header, pack.Line(line))
		}
		all = append(all, delivery)
	}
	return all, errors.Join(failed, err)
}
