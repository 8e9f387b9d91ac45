//go:build !linux && !darwin

package main

import (
	"context"
	"fmt"
	"runtime"
)

// lock refuses: tidb-server itself is made for Linux and macOS.
func lock(context.Context, string) (func(), error) {
	return nil, fmt.Errorf("tidb-server cannot be built on %s; use Linux or macOS, or an existing cluster by CONNECTOR_DSN", runtime.GOOS)
}

func checkSpace(context.Context, string, int) error { return nil }
