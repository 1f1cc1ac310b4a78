import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { LIST_PARAMETERS } from "../../src/domain/list-query.ts";
import { readQuery, withParameter } from "../../src/http/query.ts";

afterEach(() => mock.restore());

const URL = "http://x/plants?";

describe("the query", () => {
  it.each(["%", "%f", "%zz", "%ff", "%c3%28", "limi%", "limit%ff", "%ff=%ff", "LIMIT", "%4cimit", "limit%00"])(
    "ignores a parameter with the name %p",
    (name) => {
      expect(readQuery(`${URL}${name}&limit=1&${name}`, LIST_PARAMETERS)).toEqual({ limit: "1" });
      expect(withParameter(`${URL}${name}&after=1&${name}`, "after", "2")).toBe(`${name}&${name}&after=2`);
    },
  );

  it("accepts percent-encoded characters in names", () => {
    expect(readQuery(`${URL}%6c%69%6D%69%74=1&f%69elds=id`, LIST_PARAMETERS)).toEqual({ limit: "1", fields: "id" });
    expect(withParameter(`${URL}%61fte%72=1&x=1`, "after", "2")).toBe("x=1&after=2");
  });

  it.each(["%&", "%ff&", "%f0%9f&", "%c3%28=1&"])("is read without exceptions when it repeats %p", (pair) => {
    const url = URL + pair.repeat(16_000 / pair.length);
    const decode = spyOn(globalThis, "decodeURIComponent");
    expect(readQuery(url, LIST_PARAMETERS)).toEqual({});
    expect(withParameter(url, "after", "1")).toEndWith("&after=1");
    expect(decode.mock.results.filter(({ type }) => type === "throw")).toEqual([]);
  });
});
