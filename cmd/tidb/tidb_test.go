//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func someInputs() inputs {
	return inputs{moduleDir: "m", goVersion: "go version go1.26.8", goEnv: "1", goMod: []byte("mod"), goSum: []byte("sum")}
}

func TestEveryInputChangesTheDigest(t *testing.T) {
	base := someInputs().digest()
	changes := map[string]func(*inputs){
		"go version": func(in *inputs) { in.goVersion += "x" },
		"go env":     func(in *inputs) { in.goEnv += "x" },
		"go.mod":     func(in *inputs) { in.goMod = append(in.goMod, 'x') },
		"go.sum":     func(in *inputs) { in.goSum = append(in.goSum, 'x') },
		"a byte moved between two parts": func(in *inputs) {
			in.goMod, in.goSum = []byte("mods"), []byte("um")
		},
	}
	for name, change := range changes {
		in := someInputs()
		change(&in)
		if in.digest() == base {
			t.Errorf("%s: changed, and the digest is the same", name)
		}
	}
	elsewhere := someInputs()
	elsewhere.moduleDir = "another checkout"
	if elsewhere.digest() != base {
		t.Error("the place of the checkout changed the digest: two checkouts would build in turn for ever")
	}
}

func TestOnlyAnEqualAndWholeBinaryIsInPlace(t *testing.T) {
	dir := t.TempDir()
	target, fresh := filepath.Join(dir, "tidb-server"), filepath.Join(dir, ".fresh")
	put := func() {
		t.Helper()
		if err := os.WriteFile(fresh, []byte("binary"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := install(fresh, target, "inputs"); err != nil {
			t.Fatal(err)
		}
	}
	if inPlace(target, "inputs") {
		t.Error("nothing there, and in place")
	}
	put()
	if !inPlace(target, "inputs") {
		t.Error("just put in place, and not found")
	}
	if inPlace(target, "other inputs") {
		t.Error("made from other inputs, and taken")
	}
	if err := os.WriteFile(target, []byte("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if inPlace(target, "inputs") {
		t.Error("cut short, and taken")
	}
	put()
	if err := os.Remove(manifestPath(target)); err != nil {
		t.Fatal(err)
	}
	if inPlace(target, "inputs") {
		t.Error("a binary of unknown inputs was taken")
	}
}

func TestABinaryMustNameTheRelease(t *testing.T) {
	for says, want := range map[string]bool{
		"Release Version: " + release: true, "Release Version: v8.4.0-this-is-a-placeholder": false, "": false,
		"Release Version: " + release + "-dirty": false,
	} {
		binary := filepath.Join(t.TempDir(), "tidb-server")
		if err := os.WriteFile(binary, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := checkVersion(context.Background(), binary); (err == nil) != want {
			t.Errorf("%q: got %v, want accepted %v", says, err, want)
		}
	}
}

func TestTwoBuildersTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "build.lock")
	unlock, err := lock(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { _, err := lock(ctx, path); second <- err }()
	cancel()
	if err := <-second; err == nil {
		t.Fatal("two builders held the lock at once")
	}
	unlock()
	again, err := lock(context.Background(), path)
	if err != nil {
		t.Fatalf("freed, and not to be had: %v", err)
	}
	again()
}

func TestTooLittleSpaceIsOneSentenceBeforeTheBuild(t *testing.T) {
	if err := checkSpace(context.Background(), filepath.Join(t.TempDir(), "not", "there", "yet"), 0); err != nil {
		t.Fatalf("nothing asked for, and refused: %v", err)
	}
	err := checkSpace(context.Background(), filepath.Join(t.TempDir(), "tidb-server"), 1<<30)
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "not enough disk space") {
		t.Fatalf("an exabyte was found, or not one sentence: %v", err)
	}
}

func TestAnInterruptedStepSaysSoAndAFailedOneShowsItsWords(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := step(ctx, "sleeping", t.TempDir(), "sleep", "60"); err == nil {
		t.Error("interrupted, and done")
	}
	ctx, cancel = context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := step(ctx, "sleeping", t.TempDir(), "sleep", "60"); !errors.Is(err, errInterrupted) {
		t.Errorf("got %v", err)
	}
	err := step(context.Background(), "failing", t.TempDir(), "sh", "-c", "echo the disk is on fire; exit 3")
	if err == nil || errors.Is(err, errInterrupted) || !strings.Contains(err.Error(), "the disk is on fire") {
		t.Errorf("got %v", err)
	}
}

func TestTheTailKeepsTheLastLines(t *testing.T) {
	var words tail
	for range tailLines + 5 {
		_, _ = words.Write([]byte("li"))
		_, _ = words.Write([]byte("ne\nhalf"))
	}
	if got := strings.Count(words.text(), "line"); got != tailLines {
		t.Errorf("kept %d lines, want %d", got, tailLines)
	}
	if !strings.HasSuffix(words.text(), "half") || !strings.Contains(words.progress(), "45 packages") {
		t.Errorf("the last words are lost: %q %q", words.text(), words.progress())
	}
}
