package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"connectorcore/engine/pack"
	"connectorcore/examples/provider"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// trick is what is wrong with something that is sent.
type trick string

const (
	honest      trick = ""
	forged      trick = "signed with another secret"
	byteChanged trick = "one byte changed after it was signed"
	otherMedia  trick = "another content type"
	otherBytes  trick = "the id of an earlier delivery with other bytes"
)

// matter is one distinct delivery, however often it is sent.
type matter struct {
	account  *account
	channel  *pack.Channel
	delivery provider.Delivery
	commands []provider.Command // that it means
}

// parcel is one sending. The provider keeps every answer that it got.
type parcel struct {
	*matter
	trick  trick
	status int    // of its answer
	code   string // of a refusal
}

// plan is what the provider sends: most of it in any order, and after that what refers to an earlier delivery.
type plan struct {
	parcels, late []*parcel
	newest, rest  []*parcel // of a record with a planted disorder, kept back from the parcels and sent before the late ones
	honest        int       // distinct deliveries
	real          int       // of them published ones
}

// all are the parcels of a run.
func (p *plan) all() []*parcel { return slices.Concat(p.parcels, p.newest, p.rest, p.late) }

// tricksEach is how many parcels of each trick there are in a whole run.
const tricksEach = 6

// planned makes the plan: the samples of every pack and the published deliveries, a fifth of them twice, and a few that
// must be refused. The same seed gives the same plan.
func planned(ctx context.Context, accounts []*account, most int, seed uint64, say func(string, ...any)) (*plan, error) {
	random := rand.New(rand.NewPCG(seed, seed))
	samples, published, err := gathered(ctx, accounts, say)
	if err != nil {
		return nil, err
	}
	random.Shuffle(len(published), func(i, j int) { published[i], published[j] = published[j], published[i] })
	matters := append(samples, published...)
	if most > 0 && most < len(matters) {
		matters = matters[:most]
	}
	p := &plan{honest: len(matters), real: max(0, len(matters)-len(samples))}
	for _, m := range matters {
		p.parcels = append(p.parcels, &parcel{matter: m})
	}
	for _, i := range random.Perm(len(matters))[:len(matters)/5] {
		p.parcels = append(p.parcels, &parcel{matter: matters[i]})
	}
	p.tricks(matters, random)
	random.Shuffle(len(p.parcels), func(i, j int) { p.parcels[i], p.parcels[j] = p.parcels[j], p.parcels[i] })
	return p, nil
}

// gathered are all deliveries that there are, by where they come from, each with what it means.
func gathered(ctx context.Context, accounts []*account, say func(string, ...any)) (samples, published []*matter, err error) {
	seen := map[string]bool{}
	for _, a := range accounts {
		own, err := provider.Samples(a.folder)
		if err != nil {
			return nil, nil, err
		}
		others, missing := provider.Corpora(ctx, a.folder)
		if missing != nil {
			say("some published deliveries are missing, and the samples must do: %v", missing)
		}
		for i, d := range slices.Concat(own, others) {
			m, id, err := matterOf(a, d)
			switch {
			case err != nil:
				return nil, nil, err
			case seen[id]: // one id with two contents is a trick, and has its own place
			case i < len(own):
				samples = append(samples, m)
			default:
				published = append(published, m)
			}
			seen[id] = true
		}
	}
	return samples, published, nil
}

// matterOf reads a delivery, and gives its identity at its provider.
func matterOf(a *account, d provider.Delivery) (*matter, string, error) {
	channel, known := a.pack.Channel(d.Channel)
	if !known {
		return nil, "", errors.Newf("%s: the delivery %s is for a channel %s that there is not", a.folder, d.Name, d.Channel)
	}
	id := a.id.String() + "/" + d.Name // the door refuses what has no key
	if key, err := provider.Key(channel, d); err == nil {
		id = a.id.String() + "/" + d.Channel.String() + "/" + key.String()
	}
	commands, err := provider.Expect(a.pack, channel, d)
	return &matter{a, channel, d, commands}, id, err
}

// tricks adds what must be refused. What is forged or damaged has an id of its own, so that it would show in the
// application's log if it were taken in.
func (p *plan) tricks(matters []*matter, random *rand.Rand) {
	var named []*matter // whose id is a header
	for _, m := range matters {
		if slices.ContainsFunc(m.delivery.Header, func(l pack.Line) bool { return l.Value == "delivery-"+m.delivery.Name }) && len(m.delivery.Body) > 2 {
			named = append(named, m)
		}
	}
	for _, t := range []trick{forged, byteChanged, otherMedia, otherBytes} {
		for _, i := range random.Perm(len(named))[:min(tricksEach, len(named))] {
			bad := *named[i]
			if t == otherBytes {
				bad.delivery.Body = append(slices.Clone(bad.delivery.Body), '\n')
				p.late = append(p.late, &parcel{matter: &bad, trick: t})
				continue
			}
			bad.delivery = provider.Renamed(bad.delivery, strings.ReplaceAll(string(t), " ", "-")+"-"+bad.delivery.Name)
			p.parcels = append(p.parcels, &parcel{matter: &bad, trick: t})
		}
	}
}

// twice is the record that a planted defect logs twice: one that exactly one command is about.
func (p *plan) twice() (string, error) {
	for _, one := range p.parcels {
		if one.trick == honest && len(one.commands) == 1 && len(one.commands[0].Needs) == 0 && one.commands[0].Order == (facts.SourceOrder{}) && one.commands[0].Grouping.IsZero() {
			return one.commands[0].Record.String(), nil
		}
	}
	return "", errors.New("no delivery of the plan leads to a command that is applied at once: ask for more --payloads")
}

// disorder is the record of which a planted defect applies the first input behind the second. Its least input stays where
// it is in the plan; its greatest one is kept back until the application has seen the least, and the others until after
// that: so the application sees exactly these two, whatever the order of the rest.
func (p *plan) disorder(epoch facts.EpochID) (string, error) {
	things := map[done][]*matter{}
	shared := map[done]bool{} // with a delivery that means something else too
	for _, one := range p.parcels {
		if one.trick != honest || slices.ContainsFunc(one.commands, func(c provider.Command) bool { return len(c.Needs) > 0 }) {
			continue
		}
		for _, c := range one.commands {
			about := one.about(c)
			shared[about] = shared[about] || len(one.commands) > 1 || c.Order == (facts.SourceOrder{}) || !c.Grouping.IsZero()
			if !slices.Contains(things[about], one.matter) {
				things[about] = append(things[about], one.matter)
			}
		}
	}
	for _, one := range p.parcels { // in the plan's order, so that a seed gives one answer
		if one.trick != honest || len(one.commands) != 1 {
			continue
		}
		about := one.about(one.commands[0])
		least, greatest, tells, err := ends(things[about], epoch)
		switch {
		case err != nil:
			return "", err
		case shared[about] || !tells:
			continue
		}
		p.parcels = slices.DeleteFunc(p.parcels, func(sent *parcel) bool {
			switch {
			case sent.trick != honest || sent.matter == least || !slices.Contains(things[about], sent.matter):
				return false
			case sent.matter == greatest:
				p.newest = append(p.newest, sent)
			default:
				p.rest = append(p.rest, sent)
			}
			return true
		})
		return about.record, nil
	}
	return "", errors.New("the plan has no record of which two inputs are in the order of their source: ask for more --payloads")
}

// ends are the deliveries with the least and the greatest input of a thing, each of which has one. They tell of their order
// only if they do not say the same.
func ends(matters []*matter, epoch facts.EpochID) (least, greatest *matter, tells bool, err error) {
	var low, high input
	for _, m := range matters {
		made, err := m.input(m.commands[0], epoch)
		if err != nil {
			return nil, nil, false, err
		}
		if least == nil || after(made, low) < 0 {
			least, low = m, made
		}
		if greatest == nil || after(made, high) > 0 {
			greatest, high = m, made
		}
	}
	return least, greatest, low.source != high.source, nil
}

// request is a parcel on its way to a door.
func (p *parcel) request(ctx context.Context, door string) (*http.Request, error) {
	secret, sent := p.account.secret, p.delivery
	if p.trick == forged {
		secret = []byte("a guess")
	}
	address := "http://" + door + "/in/" + p.account.id.String() + "/" + sent.Channel.String()
	request, err := provider.Request(p.channel, secret, address, sent, clock.Now())
	if err != nil {
		return nil, err
	}
	switch p.trick {
	case otherMedia:
		request.Header.Set("Content-Type", "text/plain")
	case byteChanged:
		sent.Body = slices.Clone(sent.Body)
		sent.Body[len(sent.Body)/2] ^= 1
		damaged, err := http.NewRequest(request.Method, address, strings.NewReader(string(sent.Body)))
		if err != nil {
			return nil, errors.Wrap(err, "a damaged request")
		}
		damaged.Header = request.Header
		request = damaged
	}
	return request.WithContext(ctx), nil
}
