package ingress

import (
	"log/slog"
	"net/http"
	"time"
)

// The times of a server that faces strangers. They bound what one connection can hold, and permit nothing. The answer's
// bound covers the opening, the body, the waiting of an admission and the writing.
const (
	headerReadMax = 10 * time.Second
	bodyReadMax   = 30 * time.Second
	answerMax     = openWait + bodyReadMax + admitWait + 10*time.Second
	idleMax       = 2 * time.Minute
	headerBytes   = 32 << 10
)

// NewServer makes the server of a door: with bounds for slow headers, slow bodies, idle connections and large headers.
// Its own complaints, which name remote addresses and nothing that was sent, go to the log as warnings; a nil log
// takes none.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerReadMax, ReadTimeout: bodyReadMax, WriteTimeout: answerMax,
		IdleTimeout: idleMax, MaxHeaderBytes: headerBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
