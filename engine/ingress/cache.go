package ingress

import (
	"context"
	"sync"

	"connectorcore/engine/platform"
	"connectorcore/facts"

	"github.com/cockroachdb/errors"
)

// secretCache remembers resolved secret sets by their exact versions. A version is immutable, so what was once resolved
// stays right; a failure decides nothing and is forgotten. A set is wiped as soon as it is neither remembered nor held:
// one that was wiped in somebody's hands would be a key of zeros, which an attacker knows.
type secretCache struct {
	source Secrets
	most   int

	lock   sync.Mutex
	sets   map[secretName]*resolved
	uses   uint64 // counts holds, to find the set that was not used for the longest time
	closed bool
}

type secretName struct {
	backend facts.OwnerName
	version facts.SecretVersion
}

// resolved is one set, or its being resolved.
type resolved struct {
	ready   chan struct{} // closed when set or err stands
	set     platform.SecretSet
	err     error
	holders int
	kept    bool // in the cache
	used    uint64
}

func newSecretCache(source Secrets, most int) *secretCache {
	return &secretCache{source: source, most: most, sets: map[secretName]*resolved{}}
}

// hold gives the set of a version and the function that lets go of it, which is called exactly once. Requests that come
// together wait for one resolution.
//
// Refuses: what Secrets.Resolve does.
func (c *secretCache) hold(ctx context.Context, backend facts.OwnerName, version facts.SecretVersion) (platform.SecretSet, func(), error) {
	name := secretName{backend, version}
	c.lock.Lock()
	if c.closed {
		c.lock.Unlock()
		return platform.SecretSet{}, nil, errors.New("ingress: the door is closed")
	}
	r, known := c.sets[name]
	if !known {
		r = &resolved{ready: make(chan struct{}), kept: true}
		c.makeRoom()
		c.sets[name] = r
	}
	c.uses++
	r.holders, r.used = r.holders+1, c.uses
	c.lock.Unlock()
	release := func() { c.release(r) }
	if !known {
		c.resolve(ctx, name, r)
	}
	select {
	case <-r.ready:
	case <-ctx.Done():
		release()
		return platform.SecretSet{}, nil, errors.Wrap(ctx.Err(), "ingress: waiting for a secret set")
	}
	if r.err != nil {
		release()
		return platform.SecretSet{}, nil, r.err
	}
	return r.set, release, nil
}

// resolve asks the source. Whatever becomes of that, nobody waits for ever.
func (c *secretCache) resolve(ctx context.Context, name secretName, r *resolved) {
	set, err := platform.SecretSet{}, errors.AssertionFailedf("the source of secrets did not return")
	defer func() {
		c.lock.Lock()
		defer c.lock.Unlock()
		r.set, r.err = set, err
		if err != nil {
			c.forget(name, r)
		}
		close(r.ready)
	}()
	set, err = c.source.Resolve(ctx, name.backend, name.version)
}

// release lets go of a set.
func (c *secretCache) release(r *resolved) {
	c.lock.Lock()
	defer c.lock.Unlock()
	r.holders--
	r.wipeIfLast()
}

// wipeIfLast wipes what nobody can reach any more.
func (r *resolved) wipeIfLast() {
	if r.holders == 0 && !r.kept {
		r.set.Wipe()
	}
}

// forget takes a set out of the cache, unless another one stands there by now.
func (c *secretCache) forget(name secretName, r *resolved) {
	if c.sets[name] == r {
		delete(c.sets, name)
	}
	r.kept = false
	r.wipeIfLast()
}

// makeRoom forgets the set that was not used for the longest time, if the cache is full.
func (c *secretCache) makeRoom() {
	if len(c.sets) < c.most {
		return
	}
	var oldest secretName
	var at *resolved
	for name, r := range c.sets {
		if at == nil || r.used < at.used {
			oldest, at = name, r
		}
	}
	c.forget(oldest, at)
}

// close forgets everything and resolves nothing any more.
func (c *secretCache) close() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.closed = true
	for name, r := range c.sets {
		c.forget(name, r)
	}
}
