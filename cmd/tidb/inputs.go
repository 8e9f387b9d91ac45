package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const modulePath = "connectorcore/cmd/tidb"

// inputs is everything that decides which bytes the build makes.
type inputs struct {
	moduleDir string // where go.mod is; not part of the digest, two checkouts share one server
	goVersion string
	goEnv     string // the settings of the toolchain that change the code it makes
	goMod     []byte
	goSum     []byte
}

// readInputs finds this module from the working directory, as `go -C cmd/tidb run .` sets it.
func readInputs(ctx context.Context) (inputs, error) {
	mod, err := goTool(ctx, "env", "GOMOD")
	if err != nil {
		return inputs{}, err
	}
	path, err := goTool(ctx, "list", "-m")
	if err != nil || path != modulePath {
		return inputs{}, fmt.Errorf("this must run inside its own module %s; use `make tidb`, or `go -C cmd/tidb run .`", modulePath)
	}
	in := inputs{moduleDir: filepath.Dir(mod)}
	if in.goVersion, err = goTool(ctx, "version"); err != nil {
		return inputs{}, err
	}
	if in.goEnv, err = goTool(ctx, "env", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "CC", "CGO_CFLAGS"); err != nil {
		return inputs{}, err
	}
	if in.goMod, err = os.ReadFile(mod); err != nil {
		return inputs{}, fmt.Errorf("cannot read the pins of tidb-server: %w", err)
	}
	if in.goSum, err = os.ReadFile(filepath.Join(in.moduleDir, "go.sum")); err != nil {
		return inputs{}, fmt.Errorf("cannot read the pins of tidb-server: %w", err)
	}
	return in, nil
}

// digest names the inputs. Every part is preceded by its length, so that no two lists of parts look alike.
func (in inputs) digest() string {
	sum := sha256.New()
	for _, part := range [][]byte{
		[]byte(in.goVersion), []byte(in.goEnv), []byte(pretendFlag), []byte(releaseFlag), []byte(serverPackage), in.goMod, in.goSum,
	} {
		fmt.Fprintf(sum, "%d:", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func goTool(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s failed, is Go 1.26 or newer in PATH? %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// manifest stands beside the binary and says from what it was made.
type manifest struct {
	Release string `json:"release"`
	Inputs  string `json:"inputs_sha256"`
	Size    int64  `json:"binary_bytes"`
}

func manifestPath(target string) string { return filepath.Join(filepath.Dir(target), "manifest.json") }

// inPlace tells whether the target was made from these inputs and is whole.
func inPlace(target, digest string) bool {
	text, err := os.ReadFile(manifestPath(target))
	if err != nil {
		return false
	}
	var m manifest
	info, err := os.Stat(target)
	return err == nil && json.Unmarshal(text, &m) == nil && m == manifest{release, digest, info.Size()}
}

// install puts a checked binary in place. The old manifest goes first and the new one comes last: whoever dies between
// leaves a binary without a manifest, which is built again, and never a manifest that speaks of another binary.
func install(fresh, target, digest string) error {
	info, err := os.Stat(fresh)
	if err != nil {
		return fmt.Errorf("the build left no binary: %w", err)
	}
	text, err := json.MarshalIndent(manifest{release, digest, info.Size()}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.Remove(manifestPath(target)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot replace the manifest of tidb-server: %w", err)
	}
	if err := os.Rename(fresh, target); err != nil {
		return fmt.Errorf("cannot put tidb-server in place: %w", err)
	}
	staged := manifestPath(target) + ".new"
	if err := os.WriteFile(staged, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write the manifest of tidb-server: %w", err)
	}
	if err := os.Rename(staged, manifestPath(target)); err != nil {
		return fmt.Errorf("cannot write the manifest of tidb-server: %w", err)
	}
	return nil
}
