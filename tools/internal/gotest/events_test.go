package gotest_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectorcore/tools/internal/gotest"
)

// module writes a throwaway module.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var mixed = map[string]string{
	"go.mod":      "module throwaway\n\ngo 1.26\n",
	"a/a_test.go": "package a\nimport \"testing\"\nfunc TestUnused(t *testing.T) { var x int }\n",
	"b/b_test.go": `package b
import "testing"
func TestGood(t *testing.T) { t.Log("proof: 3 statements on TiDB") }
func TestSkips(t *testing.T) { t.Skip("not today") }
func TestBad(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Error("the reason") }) }
`,
	"c/c_test.go": "package c\nimport \"testing\"\nfunc TestBefore(t *testing.T) {}\nfunc TestDies(t *testing.T) { panic(\"out\") }\nfunc TestNever(t *testing.T) {}\n",
	"d/d.go":      "package d\n",
}

func TestARealRunIsCountedAndShown(t *testing.T) {
	var shown, raw bytes.Buffer
	shower := gotest.NewShower(&shown)
	run, clean, err := gotest.Execute(context.Background(), gotest.Options{
		Dir: module(t, mixed), Args: []string{"./..."}, Raw: &raw, Each: shower.Event,
	})
	if err != nil || clean {
		t.Fatalf("clean %t, error %v; want a run with failures", clean, err)
	}
	// TestGood and TestBefore; TestBad, TestDies and the package that does not build; TestSkips.
	if got := run.Count().String(); got != "2 passed, 3 failed, 1 skipped" {
		t.Fatalf("counted %s\n%s", got, &shown)
	}
	if got := run.Tests[gotest.Name{Package: "throwaway/b", Test: "TestGood"}].Statements; got != 3 {
		t.Fatalf("TestGood is said to have made %d statements, want 3", got)
	}
	for _, want := range []string{"declared and not used: x", "FAIL throwaway/a", "the reason", "skip throwaway/b.TestSkips", "panic: out"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, &shown)
		}
	}
	for _, unwanted := range []string{"TestGood", "proof: 3", "throwaway/d"} {
		if strings.Contains(shown.String(), unwanted) {
			t.Errorf("%q is shown, and nobody needs it:\n%s", unwanted, &shown)
		}
	}
	again, err := gotest.Load(&raw)
	if err != nil || again.Count() != run.Count() {
		t.Fatalf("the record reads %v (%v), the run was %v", again.Count(), err, run.Count())
	}
}

func TestAnInterruptedRunIsNoRun(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod": "module throwaway\n\ngo 1.26\n",
		"a/a_test.go": `package a

import (
	"os"
	"syscall"
	"testing"
)

func TestWaits(t *testing.T) {
	held, _ := os.Create("held")
	syscall.Flock(int(held.Fd()), syscall.LOCK_EX)
	println("waiting")
	select {}
}
`,
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, _, err := gotest.Execute(ctx, gotest.Options{Dir: dir, Args: []string{"./..."}, Each: func(event gotest.Event) {
		if strings.Contains(event.Output, "waiting") {
			cancel()
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("got %v, want an error that says interrupted", err)
	}
	// The test's own process got the interrupt too. It dies on its own time, and its lock with it.
	held, err := os.Open(filepath.Join(dir, "a/held"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for deadline := time.Now().Add(20 * time.Second); syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process of the test outlived the run")
		}
	}
}

func TestARecordWithForeignLinesIsRefused(t *testing.T) {
	_, err := gotest.Load(strings.NewReader("{\"Action\":\"start\",\"Package\":\"x\"}\nsomething else\n"))
	if err == nil || !strings.Contains(err.Error(), "something else") {
		t.Fatalf("got %v, want an error that quotes the line", err)
	}
}

func TestADeadPackageIsOneFailure(t *testing.T) {
	run, err := gotest.Load(strings.NewReader(
		`{"Action":"pass","Package":"x","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"x"}` + "\n"))
	if err != nil || run.Count() != (gotest.Counts{Passed: 1, Failed: 1}) {
		t.Fatalf("counted %v (%v), want 1 passed, 1 failed", run.Count(), err)
	}
}
