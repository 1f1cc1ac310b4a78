-- Prints what wrk measured as one line of JSON.
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format(
    'RESULT {"perSecond": %.1f, "p50Ms": %.3f, "p99Ms": %.3f, "errors": %d}',
    summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed
  ))
end
