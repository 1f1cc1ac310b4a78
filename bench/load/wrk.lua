-- Sends the requests REQUEST_1, REQUEST_2, ... in turn. "{id}" in them becomes FROM + offset, which moves on by STEP
-- with each request and starts again at SPAN.
local heads, tails, count = {}, {}, 0
while os.getenv("REQUEST_" .. count + 1) do
  count = count + 1
  local text = os.getenv("REQUEST_" .. count)
  local first, last = text:find("{id}", 1, true)
  if first and text:find("{id}", last + 1, true) then error("one id a request") end
  heads[count] = first and text:sub(1, first - 1) or text
  tails[count] = first and text:sub(last + 1)
end

local from, step, span = tonumber(os.getenv("FROM")), tonumber(os.getenv("STEP")), tonumber(os.getenv("SPAN"))
local offset, turn = tonumber(os.getenv("OFFSET")), 0

-- Each thread has a Lua state and a part of the ids of its own.
local threads = 0
setup = function(thread)
  thread:set("number", threads)
  threads = threads + 1
end
init = function()
  offset = offset + number * math.floor(span / tonumber(os.getenv("THREADS")))
end

request = function()
  turn = turn % count + 1
  local tail = tails[turn]
  if not tail then return heads[turn] end
  offset = (offset + step) % span
  return heads[turn] .. string.format("%d", from + offset) .. tail
end

-- Prints what was measured as one line of JSON. `refused` are answers from 400 on.
done = function(summary, latency)
  local errors = summary.errors
  print(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "p50Ms": %.3f, "p99Ms": %.3f, "refused": %d, "failed": %d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
