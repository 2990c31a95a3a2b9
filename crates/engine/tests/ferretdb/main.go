// Command ferretdb runs a FerretDB server for tests until SIGTERM or the end of its standard input, and prints its URI first.
//
// May not be taken for MongoDB: it says whether a client speaks the protocol, never how fast a MongoDB server is.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "ferretdb:", err)
		os.Exit(1)
	}
}

// serve answers on a free port of the loopback until a signal or the end of the parent, whose pipe is our standard input.
func serve() error {
	handler := flag.String("handler", "sqlite", "back end: sqlite or postgresql")
	folder := flag.String("folder", ".", "folder of the SQLite files")
	postgresql := flag.String("postgresql", "", "URL of the PostgreSQL database")
	flag.Parse()

	server, err := ferretdb.New(&ferretdb.Config{
		Listener:      ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Handler:       *handler,
		SQLiteURL:     "file:" + *folder + "/",
		PostgreSQLURL: *postgresql,
	})
	if err != nil {
		return err
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	fmt.Println(server.MongoDBURI())
	return <-ended
}
