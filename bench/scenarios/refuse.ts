import { compareWithLimits } from "../judge.ts";
import { lineUp } from "../line-up.ts";
import { throughput } from "../rounds.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { NGINX } from "../servers/limits.ts";

const KINDS = [
  { ask: "unknownToken", what: "401, well-formed token that is unknown, 64 connections" },
  { ask: "malformedToken", what: "401, malformed token, 64 connections" },
] as const;

export const refuse: Scenario = {
  name: "refuse",
  about: "a flood of requests with a wrong token: the worse of two kinds",
  async run(depth) {
    const figures: Figure[] = [];
    for (const { ask, what } of KINDS) {
      await using running = await lineUp({ plants: 0, constants: [ask], peersOf: depth });
      const targets = [{ atLeast: 0.6, of: NGINX }];
      figures.push(await throughput(running, { depth, what, targets, asks: [ask], connections: 64 }));
    }
    return figures.toSorted((a, b) => ratioOf(a) - ratioOf(b)).slice(0, 1);
  },
};

/** To nginx, where there is one. */
const ratioOf = (figure: Figure): number => compareWithLimits(figure)[0]?.ratio ?? 0;
