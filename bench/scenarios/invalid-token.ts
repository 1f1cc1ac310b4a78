import { compareWithLimits } from "../comparison.ts";
import { measureThroughput } from "../rounds.ts";
import type { Metric, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import { NGINX } from "../servers/limits.ts";

const KINDS = [
  { request: "unknownToken", what: "401, well-formed unknown token, 64 connections" },
  { request: "malformedToken", what: "401, malformed token, 64 connections" },
] as const;

export const invalidToken: Scenario = {
  name: "invalid-token",
  description: "401 responses to unknown and malformed tokens; reports the slower kind",
  async run(settings) {
    const metrics: Metric[] = [];
    for (const { request, what } of KINDS) {
      await using group = await startServers({
        against: settings.against,
        plants: 0,
        limitsFor: [request],
        withPeers: settings.withPeers,
      });
      const targets = [{ atLeast: 0.6, of: NGINX }];
      metrics.push(await measureThroughput(group, { settings, what, targets, requests: [request], connections: 64 }));
    }
    return metrics.toSorted((a, b) => ratioOf(a) - ratioOf(b)).slice(0, 1);
  },
};

/** Returns the ratio to nginx; 0 when nginx was not measured. */
const ratioOf = (metric: Metric): number => compareWithLimits(metric)[0]?.ratio ?? 0;
