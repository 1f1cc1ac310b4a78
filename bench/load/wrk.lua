-- Sends the requests REQUEST_1, REQUEST_2, ... in rotation. Replaces "{id}" in them with FROM + offset; the offset grows
-- by STEP with each such request, modulo SPAN.
local heads, tails, count = {}, {}, 0
while os.getenv("REQUEST_" .. count + 1) do
  count = count + 1
  local text = os.getenv("REQUEST_" .. count)
  local first, last = text:find("{id}", 1, true)
  if first and text:find("{id}", last + 1, true) then error("more than one id in a request") end
  heads[count] = first and text:sub(1, first - 1) or text
  tails[count] = first and text:sub(last + 1)
end

local from, step, span = tonumber(os.getenv("FROM")), tonumber(os.getenv("STEP")), tonumber(os.getenv("SPAN"))
local offset, index = tonumber(os.getenv("OFFSET")), 0

-- Each thread has its own Lua state and uses its own part of the ids.
local threads = 0
setup = function(thread)
  thread:set("number", threads)
  threads = threads + 1
end
init = function()
  offset = offset + number * math.floor(span / tonumber(os.getenv("THREADS")))
end

request = function()
  index = index % count + 1
  local tail = tails[index]
  if not tail then return heads[index] end
  offset = (offset + step) % span
  return heads[index] .. string.format("%d", from + offset) .. tail
end

-- Prints a summary as one line of JSON. `errorStatuses` counts responses with status 400 or above.
done = function(summary, latency)
  local errors = summary.errors
  print(string.format(
    'RESULT {"requests": %d, "seconds": %.6f, "p50Ms": %.3f, "p99Ms": %.3f, "errorStatuses": %d, "socketErrors": %d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
