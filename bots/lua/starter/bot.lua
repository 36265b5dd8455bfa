-- A bot to start from: pay-off cards first, then cards to the centre, then a discard onto a short stack.
-- Improve `choose`; PROTOCOL.md describes the view.

local json = require("dkjson")

local function pay_off(legal)
  for _, action in ipairs(legal) do
    if action:find("^p%-") then return action end
  end
end

local function to_centre(legal)
  for _, action in ipairs(legal) do
    if action:find("-c", 1, true) then return action end
  end
end

-- A discard onto the shortest side stack; the last of equal ones.
local function discard(view, legal)
  local side = view.seats[view.seat + 1].side -- seats and stacks count from 0, Lua's lists from 1
  local best, fewest
  for _, action in ipairs(legal) do
    local slot = action:match("^h..%-s(%d+)$")
    if slot then
      local cards = #side[tonumber(slot) + 1]
      if not best or cards <= fewest then
        best, fewest = action, cards
      end
    end
  end
  return best
end

-- Returns the action to play: one of the legal ones, unchanged. `request` is the whole message:
-- besides view and legal it has clock, and events since the last choice. `game` is the
-- message game_start: the rules, the seat, a random seed. JSON's null is json.null.
local function choose(request, game)
  local view, legal = request.view, request.legal
  return pay_off(legal) or to_centre(legal) or discard(view, legal) or legal[1]
end

local game
for line in io.stdin:lines() do
  local request, _, problem = json.decode(line, 1, json.null)
  assert(request, problem)
  if request.type == "bye" then break end
  -- The whole answer to an unknown type. An id that arrives as 7.0 goes back as 7: a float would lose long digits.
  local answer = { id = math.tointeger(request.id) }
  if request.type == "game_start" then
    game = request
  elseif request.type == "move" then
    answer.move = choose(request, game)
  end
  io.stdout:write(json.encode(answer), "\n")
  io.stdout:flush()
end
