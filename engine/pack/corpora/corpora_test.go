package corpora

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "samples"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "samples", "corpora.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

const whole = `channel: hooks
event_header: x-event
delivery_header: x-delivery
npm_package: "@nobody/nothing@1.0.0"
npm_file: package/index.json
go_module: example.invalid/nothing@v1.0.0
go_folder: shop
`

func TestAPackNamesItsCorporaOrNone(t *testing.T) {
	if _, any, err := Named(t.TempDir()); any || err != nil {
		t.Errorf("a folder without names some: %v, %v", any, err)
	}
	c, any, err := Named(written(t, whole))
	if err != nil || !any || c.Event != "x-event" || c.Folder != "shop" {
		t.Errorf("%+v, %v, %v", c, any, err)
	}
	if _, _, err := Named(written(t, "channel: hooks\nkanal: hooks\n")); err == nil || !strings.Contains(err.Error(), "kanal") {
		t.Errorf("an unknown key is told as: %v", err)
	}
}

// Whoever is offline learns which package is missing, and no half archive stays behind.
func TestWhatCannotBeFetchedIsNamed(t *testing.T) {
	c, _, err := Named(written(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("PATH", t.TempDir())
	if _, err := c.Examples(t.Context()); err == nil || !strings.Contains(err.Error(), "@nobody/nothing@1.0.0 is not in the cache") {
		t.Errorf("told as: %v", err)
	}
	if _, err := c.Captures(t.Context()); err == nil || !strings.Contains(err.Error(), "example.invalid/nothing@v1.0.0 is not in the module cache") {
		t.Errorf("told as: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "*", "corpora", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
