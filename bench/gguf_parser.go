// SPDX-License-Identifier: MIT

// What the gguf-parser program does with a local file, on the library it is made of: read the header, describe it, and
// estimate a run with -c 32768. Built when `go install` cannot find the program itself.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	parser "github.com/gpustack/gguf-parser-go"
)

func main() {
	file, err := parser.ParseGGUFFile(os.Args[1], parser.SkipLargeMetadata(), parser.UseMMap())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	run := file.EstimateLLaMACppRun(parser.WithLLaMACppContextSize(32768))
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"metadata":     file.Metadata(),
		"architecture": file.Architecture(),
		"tokenizer":    file.Tokenizer(),
		"estimate":     run.Summarize(true, 0, 0),
	})
}
