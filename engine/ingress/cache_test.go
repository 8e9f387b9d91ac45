package ingress

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/errors"

	"connectorcore/engine/platform"
	"connectorcore/facts"
)

// vault is a source of secrets that shows what became of the sets that it gave.
type vault struct {
	t    testing.TB
	lock sync.Mutex
	asks []string
	gave map[string][]platform.SecretSet
	fail error
	hook func(ctx context.Context)
}

func (v *vault) Resolve(ctx context.Context, backend facts.OwnerName, version facts.SecretVersion) (platform.SecretSet, error) {
	if v.hook != nil {
		v.hook(ctx)
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	name := backend.String() + "/" + version.String()
	v.asks = append(v.asks, name)
	if v.fail != nil {
		return platform.SecretSet{}, v.fail
	}
	set := secrets(v.t, "secret "+name)
	if v.gave == nil {
		v.gave = map[string][]platform.SecretSet{}
	}
	v.gave[name] = append(v.gave[name], set)
	return set, nil
}

// wiped tells for each set that was given under a name whether it is wiped.
func (v *vault) wiped(name string) string {
	v.lock.Lock()
	defer v.lock.Unlock()
	text := ""
	for _, set := range v.gave[name] {
		text += fmt.Sprint(set.Members()[0].Secret.IsZero(), " ")
	}
	return text
}

func (v *vault) hold(t testing.TB, c *secretCache, backend, version string) (string, func()) {
	t.Helper()
	set, release, err := c.hold(t.Context(), key[facts.OwnerName](t, backend), key[facts.SecretVersion](t, version))
	must(t, err)
	return string(set.Members()[0].Secret.Reveal()), release
}

func TestASetIsResolvedOnceAndKeptByItsExactName(t *testing.T) {
	v := &vault{t: t}
	c := newSecretCache(v, 10)
	for _, name := range [][2]string{{"a", "1"}, {"a", "2"}, {"b", "1"}, {"a", "1"}, {"b", "1"}} {
		text, release := v.hold(t, c, name[0], name[1])
		if text != "secret "+name[0]+"/"+name[1] {
			t.Errorf("%q was given for %s", text, name)
		}
		release()
	}
	if len(v.asks) != 3 {
		t.Errorf("asked for %q", v.asks)
	}
	c.close()
	for name := range v.gave {
		if got := v.wiped(name); got != "true " {
			t.Errorf("%s after the end: wiped %s", name, got)
		}
	}
	if _, _, err := c.hold(t.Context(), key[facts.OwnerName](t, "a"), key[facts.SecretVersion](t, "1")); err == nil || len(v.asks) != 3 {
		t.Error("a closed cache resolves")
	}
}

// A set that is wiped in somebody's hands would be a key of zeros, which everybody knows.
func TestASetThatIsHeldIsNeverWiped(t *testing.T) {
	v := &vault{t: t}
	c := newSecretCache(v, 1)
	text, releaseFirst := v.hold(t, c, "a", "1")
	_, again := v.hold(t, c, "a", "1")
	_, releaseSecond := v.hold(t, c, "a", "2") // pushes the first one out
	if got := v.wiped("a/1"); got != "false " || text != "secret a/1" {
		t.Fatalf("pushed out: wiped %s", got)
	}
	again()
	if got := v.wiped("a/1"); got != "false " {
		t.Fatalf("with one holder left: wiped %s", got)
	}
	releaseFirst()
	if got := v.wiped("a/1"); got != "true " {
		t.Errorf("without a holder: wiped %s", got)
	}
	c.close()
	if got := v.wiped("a/2"); got != "false " {
		t.Errorf("closed: wiped %s", got)
	}
	releaseSecond()
	if got := v.wiped("a/2"); got != "true " {
		t.Errorf("closed and let go: wiped %s", got)
	}
}

func TestTheCacheIsBoundedAndForgetsTheLongestUnused(t *testing.T) {
	v := &vault{t: t}
	c := newSecretCache(v, 2)
	for _, version := range []string{"1", "2", "1", "3", "1", "2"} { // 3 pushes 2 out, and 2 then pushes 3 out
		_, release := v.hold(t, c, "a", version)
		release()
		if len(c.sets) > 2 {
			t.Fatalf("%d sets", len(c.sets))
		}
	}
	if got := fmt.Sprint(v.asks, v.wiped("a/1"), v.wiped("a/2"), v.wiped("a/3")); got != "[a/1 a/2 a/3 a/2]false true false true " {
		t.Errorf("%s", got)
	}
	c.close()
}

func TestAFailureIsNotRemembered(t *testing.T) {
	v := &vault{t: t, fail: facts.Refuse(facts.OwnerUnavailable, facts.OfInput("vault"), "away")}
	c := newSecretCache(v, 10)
	defer c.close()
	for range 2 {
		if _, _, err := c.hold(t.Context(), key[facts.OwnerName](t, "a"), key[facts.SecretVersion](t, "1")); !errors.Is(err, facts.OwnerUnavailable) {
			t.Fatal(err)
		}
	}
	v.fail = nil
	if text, release := v.hold(t, c, "a", "1"); text != "secret a/1" || len(v.asks) != 3 {
		t.Errorf("%q after %d asks", text, len(v.asks))
	} else {
		release()
	}
}

func TestWhoWaitsForASetMayGoAndWhoBreaksResolvingHoldsNobody(t *testing.T) {
	entered, goOn := make(chan struct{}), make(chan struct{})
	v := &vault{t: t, hook: func(context.Context) { close(entered); <-goOn }}
	c := newSecretCache(v, 10)
	defer c.close()
	var first sync.WaitGroup
	first.Go(func() { _, release := v.hold(t, c, "a", "1"); release() })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.hold(ctx, key[facts.OwnerName](t, "a"), key[facts.SecretVersion](t, "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(goOn)
	first.Wait()
	v.hook = func(context.Context) { var nobody *vault; nobody.asks = nil }
	func() {
		defer func() { _ = recover() }()
		_, _, _ = c.hold(t.Context(), key[facts.OwnerName](t, "a"), key[facts.SecretVersion](t, "2"))
		t.Error("the source did not break")
	}()
	v.hook = nil
	if _, release := v.hold(t, c, "a", "2"); len(c.sets) != 2 {
		t.Errorf("%d sets", len(c.sets))
	} else {
		release()
	}
}

// Run under the race detector: many hold, while sets are pushed out all the time.
func TestNobodyEverSeesAWipedSet(t *testing.T) {
	v := &vault{t: t}
	c := newSecretCache(v, 2)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				version := fmt.Sprint(1 + (i+n)%5)
				if text, release := v.hold(t, c, "a", version); text != "secret a/"+version {
					t.Errorf("%q for version %s", text, version)
				} else {
					release()
				}
			}
		})
	}
	all.Wait()
	c.close()
	for name := range v.gave {
		for i, set := range v.gave[name] {
			if !set.Members()[0].Secret.IsZero() {
				t.Errorf("set %d of %s was left behind", i, name)
			}
		}
	}
}
