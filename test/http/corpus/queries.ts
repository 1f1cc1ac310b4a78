import { closes, keepsOpen, perValue, request, words } from "./exchange.ts";

const list = (queries: readonly string[]) => perValue(queries, (query) => request("GET", `/plants?${query}`));

/** Queries of lists: separators, percent-encoding, character encodings. */
export const queries = [
  ...keepsOpen(
    [200],
    list([
      "",
      ...words(`
        & = &&=&& ? ?? / # #limit=0 x# % %=% %ff=%ff \xff=\xff x=\xff =limit=0 LIMIT=0 limit[]=0 limit%00=0
        %20limit=0 limit%20=0 +limit=0 limit;=0 limi%=0 x;limit=0 x=1&x=2 x&amp;limit=1 limit=1&&& &limit=1
        limit=%31 %6c%69%6d%69%74=1 limit=01 limit=2147483647 after=-0 after=%2d1
        after=000000000000000000000000001 tag tag= tag=+ tag=%20 tag=a=b tag=<>"' tag=\xc3\xa9 tag=%c3%a9
        tag=%EF%BF%BD tag=%EF%BB%BF tag=%f0%9f%8c%b1 tag=%7f tag=a#b tag=%25ff fields=id fields=id,id
        fields=id&fields=id fields=id&fields=name,tag
        fields=tag,name,id fields=%69d fields=id%2Cname __proto__=1 constructor=1 access_token=x _method=DELETE
        tag=../../etc/passwd tag='%20OR%201=1-- tag=%25%30%30 x=<script>`),
      `x=${"x".repeat(15_000)}`,
      "x&".repeat(7_000),
      `tag=${"%f0%9f%8c%b1".repeat(255)}`,
    ]),
  ),
  // Bun replaces bytes that are neither percent-encoded nor UTF-8 by U+FFFD.
  ...keepsOpen([200], list(words("tag=\xff tag=a\x80b tag=\xc0\x80 tag=\xed\xa0\x80 tag=\xe2\x82 tag=\xc3"))),
  ...keepsOpen(
    [40006],
    list([
      ...words(`
        limit limit= limit=0 limit=-1 limit=+1 limit=%2b1 limit=1%20 limit=1# limit=1#x limit=1;after=0 limit=1?
        limit=1/ limit=1%00 limit=%00 limit=1%0a limit=0x1 limit=1e0 limit=1.0 limit=1,2 limit==1 limit=2147483648
        limit=18446744073709551617 limit=%d9%a1 limit=\xd9\xa1 limit=%ef%bc%91 limit=NaN limit=null limit=%2531 limit=\xff
        limit=& %6cimit=0`),
      `limit=${"9".repeat(10_000)}`,
    ]),
  ),
  ...keepsOpen(
    [40007],
    list([
      ...words(`
        after after= after=1.0 after=1e3 after=--1 after=- after=+1 after=%2b1 after=1# after=0x1 after=%d9%a1
        after=9223372036854775808 after=-9223372036854775809 after=1%00 after=1%20 after=%e2%88%921 after=%c2%a0`),
      `after=${"9".repeat(10_000)}`,
    ]),
  ),
  ...keepsOpen(
    [40008],
    list([
      ...words(`
        tag=% tag=%f tag=%zz tag=%u0041 tag=%ff tag=%c0%80 tag=%c0%af tag=%ed%a0%80 tag=%ed%b0%80 tag=%f4%90%80%80
        tag=%e2%82 tag=%80 tag=%fe%ff tag=a%e2%82b tag=%00 tag=a%00b tag=%c3%28 tag=%f8%88%80%80%80 tag=%%20
        after=%ff fields=\xff
        limit=1&limit=1 limit=1&%6cimit=1 tag=a&tag=a tag&tag after=1&after=2 fields=id&fields= fields=id&fields=x tag=a&x=1&%74ag=b
        fields fields= fields=, fields=id, fields=,id fields=ID fields=id;name fields=id%20 fields=id,%20name
        fields=* fields=colour fields=id%00 fields=__proto__ fields=id,name,tag,owner`),
      `tag=${"x".repeat(256)}`,
      `tag=${"%f0%9f%8c%b1".repeat(256)}`,
      `fields=${"id,".repeat(4_000)}x`,
    ]),
  ),
  ...closes(
    [505],
    list(["limit= 1", "limit=1\t", "tag=a b", "tag=\0", "tag=\x01", "tag=\x1f", "tag=a\nb", "tag=a\rb"]),
  ),
];
