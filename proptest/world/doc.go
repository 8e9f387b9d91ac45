// Package world gives tests a real TiDB. It is imported by tests only.
//
// One tidb-server serves all test packages of a checkout that run at the same time, and ends some seconds after the
// last of them: the first test process that needs it starts its own binary once more as the server's keeper (keeper.go),
// and every process that uses it holds a shared lock for as long as it lives. Nothing has to be set up: bare
// `go test ./...` works, from any directory.
//
//	db := world.Database(t)          // a fresh database of a short name, dropped at the test's end
//	own := world.OwnServer(t)        // a server of one's own, for tests that kill or misconfigure it
//	proxy := world.NewProxy(t, addr) // stands between a client and a server and cuts or holds a COMMIT
//
// With CONNECTOR_TEST_DSN set, that server is used instead of the shared one; its account must be able to make
// databases and accounts. Without a built tidb-server a test fails at once and says how to build it; it never builds.
//
// A test that ran statements through a counted pool says so at its end in one line, `proof: N statements on TiDB`.
package world
