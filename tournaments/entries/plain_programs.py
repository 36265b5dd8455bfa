"""Bots of a few lines that play any game by chance, or by its first action, in languages that need no more."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Program(Struct, frozen=True):
    """A bot that knows no game."""

    file: str
    text: str
    """`{family}` stands for the game."""
    run: tuple[str, ...]
    needs: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    others: Mapping[str, str] = {}
    """Other files, by name."""


PYTHON = '''\
"""A bot for {family} that plays any legal action."""

import json
import random
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "bye":
        break
    answer = {"id": request["id"]}
    if request["type"] == "game_start":
        chance = random.Random(int(request["rng"]))  # the same game is played the same way again
    if request["type"] == "move":
        # Begin here: request["view"] is the table as you see it, request["events"] what happened since your last move.
        answer["move"] = chance.choice(request["legal"])
    print(json.dumps(answer), flush=True)
'''

JAVASCRIPT = """\
// A bot for {family} that plays the first legal action.
"use strict";

const lines = require("readline").createInterface({ input: process.stdin });

lines.on("line", (line) => {
  const request = JSON.parse(line);
  if (request.type === "bye") process.exit();
  const answer = { id: request.id };
  // Begin here: request.view is the table as you see it, request.events what happened since your last move.
  if (request.type === "move") answer.move = request.legal[0];
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""

RUBY = """\
# frozen_string_literal: true

# A bot for {family} that plays any legal action.

require "json"

$stdin.set_encoding(Encoding::UTF_8) # whatever the locale is
$stdout.sync = true # flushes every line

chance = nil
$stdin.each_line do |line|
  request = JSON.parse(line, max_nesting: false)
  answer = { id: request["id"] }
  case request["type"]
  when "bye"
    break
  when "game_start"
    chance = Random.new(request["rng"].to_i) # the same game is played the same way again
  when "move"
    # Begin here: request["view"] is the table as you see it, request["events"] what happened since your last move.
    answer[:move] = request["legal"].sample(random: chance)
  end
  puts JSON.generate(answer)
end
"""

PERL = """\
# A bot for {family} that plays the first legal action.

use v5.20;
use warnings;
use JSON::PP ();

$| = 1;    # flushes every line
my $json = JSON::PP->new->utf8->max_depth(4096);

while (my $line = <STDIN>) {
    my $request = $json->decode($line);
    last if $request->{type} eq 'bye';
    # An id that arrives as 7.0 goes back as 7: a float would lose long digits.
    my $answer = { id => 0 + sprintf('%.0f', $request->{id}) };
    # Begin here: $request->{view} is the table as you see it, $request->{events} what happened since your last move.
    $answer->{move} = $request->{legal}[0] if $request->{type} eq 'move';
    print $json->encode($answer), "\\n";
}
"""

LUA = """\
-- A bot for {family} that plays the first legal action.
local json = require("dkjson")

for line in io.stdin:lines() do
  local request, _, problem = json.decode(line, 1, json.null)
  assert(request, problem)
  if request.type == "bye" then break end
  -- An id that arrives as 7.0 goes back as 7: a float would lose long digits.
  local answer = { id = math.tointeger(request.id) }
  -- Begin here: request.view is the table as you see it, request.events what happened since your last move.
  if request.type == "move" then answer.move = request.legal[1] end
  io.stdout:write(json.encode(answer), "\\n")
  io.stdout:flush()
end
"""

SHELL = """\
# A bot for {family} that plays the first legal action.

label $bye
| inputs
| if .type == "bye" then break $bye
  # Begin here: .view is the table as you see it, .events what happened since your last move.
  elif .type == "move" then {id, move: .legal[0]}
  else {id}
  end
"""

GO = """\
// A bot for {family} that plays the first legal action.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
)

// A request, with what this bot reads of it.
type request struct {
	ID    json.Number     `json:"id"`
	Type  string          `json:"type"`
	View  json.RawMessage `json:"view"`
	Legal []string        `json:"legal"`
}

type answer struct {
	ID   json.Number `json:"id"`
	Move string      `json:"move,omitempty"`
}

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for {
		var asked request
		if err := in.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if asked.Type == "bye" {
			return
		}
		told := answer{ID: asked.ID}
		if asked.Type == "move" {
			told.Move = asked.Legal[0] // begin here: asked.View is the table as you see it
		}
		if err := out.Encode(told); err != nil {
			log.Fatal(err)
		}
	}
}
"""

PROGRAMS: Mapping[str, Program] = {
    "go": Program(
        "bot.go",
        GO,
        ("build/bot",),
        ("go",),
        ("go", "build", "-buildvcs=false", "-o", "build/bot", "."),
        ("build",),
        {"go.mod": "module bot\n\ngo 1.18\n"},
    ),
    "javascript": Program(
        "bot.js", JAVASCRIPT, ("node", "--v8-pool-size=1", "--max-old-space-size=192", "bot.js"), ("node",)
    ),
    "lua": Program("bot.lua", LUA, ("lua5.4", "bot.lua"), ("lua5.4", "dkjson")),
    "perl": Program("bot.pl", PERL, ("perl", "bot.pl"), ("perl", "JSON::PP")),
    "python": Program("bot.py", PYTHON, ("{python}", "-I", "bot.py")),
    "ruby": Program("bot.rb", RUBY, ("ruby", "bot.rb"), ("ruby",)),
    "shell": Program("bot.jq", SHELL, ("jq", "-n", "-c", "--unbuffered", "-f", "bot.jq"), ("jq",)),
}
"""By language."""
