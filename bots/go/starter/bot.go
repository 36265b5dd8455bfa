// A bot to start from: it plays pay-off cards first.
//
// Each request is a line of JSON and gets a line with its id. The view is complete every time, so the
// bot remembers nothing; the play is in choose.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
)

// Request has the fields of every request; bye has no id.
type Request struct {
	Type string          `json:"type"`
	ID   json.RawMessage `json:"id"`
}

// Move has the further fields of a move that this bot uses.
type Move struct {
	View  View     `json:"view"`
	Legal []string `json:"legal"`
}

// Answer is one line of ours; only a move needs more than the id.
type Answer struct {
	ID   json.RawMessage `json:"id"`
	Move string          `json:"move,omitempty"`
}

// View is the table as we see it. Seats and centre stacks keep their places.
type View struct {
	Turn   Int      `json:"turn"`
	Seat   Int      `json:"seat"` // ours
	Hand   []string `json:"hand"`
	Stock  Int      `json:"stock"`
	Aside  Int      `json:"aside"` // cards of completed stacks, set aside
	Centre []struct {
		Cards  []string `json:"cards"` // bottom to top
		Height Int      `json:"height"`
		Needs  string   `json:"needs"` // the rank that fits next
	} `json:"centre"`
	Seats []struct {
		Payoff struct {
			Top  *string `json:"top"`  // nil: the pile is empty
			Left *Int    `json:"left"` // nil: not public
		} `json:"payoff"`
		Hand Int        `json:"hand"`
		Side [][]string `json:"side"` // bottom to top
		Team Int        `json:"team"`
		Out  bool       `json:"out"`
	} `json:"seats"`
}

// Int is an integer, which JSON may also write as 3.0.
type Int int

// UnmarshalJSON reads both spellings.
func (n *Int) UnmarshalJSON(spelled []byte) error {
	value, err := strconv.ParseFloat(string(spelled), 64)
	*n = Int(value)
	return err
}

// choose returns the pay-off card if it can be played, else a card to the centre, else a discard onto a short stack.
func choose(view View, legal []string) string {
	for _, action := range legal {
		if strings.HasPrefix(action, "p-") {
			return action
		}
	}
	for _, action := range legal {
		if strings.Contains(action, "-c") {
			return action
		}
	}
	if action := shortestDiscard(view, legal); action != "" {
		return action
	}
	return legal[0]
}

// shortestDiscard returns the discard onto the shortest side stack, the last of equal ones; "" if there is none.
func shortestDiscard(view View, legal []string) string {
	side := view.Seats[view.Seat].Side
	best, shortest := "", 0
	for _, action := range legal {
		source, target, _ := strings.Cut(action, "-")
		if !strings.HasPrefix(source, "h") || !strings.HasPrefix(target, "s") {
			continue
		}
		stack, err := strconv.Atoi(target[1:])
		check(err)
		if size := len(side[stack]); best == "" || size <= shortest {
			best, shortest = action, size
		}
	}
	return best
}

func main() {
	lines, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var line json.RawMessage
		err := lines.Decode(&line)
		if err == io.EOF {
			return
		}
		check(err)
		var request Request
		check(json.Unmarshal(line, &request))
		answer := Answer{ID: request.ID}
		switch request.Type {
		case "bye":
			return
		case "move":
			var move Move
			check(json.Unmarshal(line, &move))
			answer.Move = choose(move.View, move.Legal)
		}
		check(answers.Encode(answer))
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
