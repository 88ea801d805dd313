// SPDX-License-Identifier: MIT

// What the gguf-parser program does with a local file, on the library it is made of: read the header, describe it, and
// estimate a run with the context of the second argument. Built when `go install` cannot find the program itself.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	parser "github.com/gpustack/gguf-parser-go"
)

func main() {
	file, err := parser.ParseGGUFFile(os.Args[1], parser.SkipLargeMetadata(), parser.UseMMap())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, err := strconv.ParseInt(os.Args[2], 10, 32)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	run := file.EstimateLLaMACppRun(parser.WithLLaMACppContextSize(int32(ctx)))
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"metadata":     file.Metadata(),
		"architecture": file.Architecture(),
		"tokenizer":    file.Tokenizer(),
		"estimate":     run.Summarize(true, 0, 0),
	})
}
