package drive_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectorcore/engine/drive"
	"connectorcore/proptest/stage"
)

// A pack that makes more of a component than the store can keep quarantines it. Nothing of the account stands still for it.
func TestAnInputThatNoRowHoldsIsQuarantinedAndHoldsNothingUp(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pack")
	if err := os.CopyFS(folder, os.DirFS(stage.Folder(t, stage.Batched))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "change.mapping.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 7 {
		text = append(text, fmt.Sprintf("  - {name: copy_%d, owner: source, value: payload}\n", n)...)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := stage.ServingPacks(t, folder)
	scene := open(t, s, s.Store.Hosted(t, notes), noting, drive.Options{})
	large, small := batch(t, s.Accounts[0], 1), batch(t, s.Accounts[0], 1)
	large.Body = []byte(strings.Replace(string(large.Body), `"attemptNumber"`, `"text": "`+strings.Repeat("x", 1<<20)+`", "attemptNumber"`, 1))
	for _, d := range []stage.Delivery{large, small} {
		if status, body := scene.send(s.Accounts[0], d); status != http.StatusAccepted {
			t.Errorf("%d %s", status, body)
		}
	}
	scene.ends(1)
	if n := s.Count(t, "SELECT COUNT(*) FROM receipt_component WHERE verdict = 'quarantined' AND reason = 'input_too_large'"); n != 1 {
		t.Errorf("%d components are quarantined", n)
	}
}
