-- Creates a plant with every request; ids never repeat, also between runs.
package.path = package.path .. ";" .. (debug.getinfo(1, "S").source:match("@(.*/)") or "./") .. "?.lua"
require("result")

wrk.method = "POST"
wrk.path = "/plants"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")

local id = tonumber(os.getenv("RUN")) * 100000000

request = function()
  id = id + 1
  return wrk.format(nil, nil, nil, string.format('{"id":%d,"name":"Aristolochia californica","tag":"vine"}', id))
end
