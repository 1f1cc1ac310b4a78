import { closes, keepsOpen, perValue, request, words } from "./exchange.ts";

const remove = (targets: string, ...more: string[]) =>
  perValue([...words(targets), ...more], (target) => request("DELETE", target));

/** Request targets: forms, dots, slashes, escapes (RFC 9112, 3.2; RFC 3986). */
export const targets = [
  ...keepsOpen(
    [204],
    remove(`
      /plants/1 /plants/%31 /plants/01 /plants/0000000000000000000000000000000000001 /plants/%30%31
      /plants/1? /plants/1?id=2 /plants/1?../9 /plants/1?# http://x/plants/1 https://x/plants/1
      http://other:1/plants/1 http://ann:secret@x/plants/1 HTTP://X/plants/1 http:///plants/1`),
    { plants: [] },
  ),
  // A target cannot have a fragment (RFC 9112, 3.2); Bun parses it as part of the host.
  ...keepsOpen([204], remove("http://x#/plants/1"), { plants: [] }),
  ...keepsOpen(
    [40401],
    remove(`
      /plants/ /plants//1 //plants/1 ///plants/1 //x/plants/1 /plants/1/ /plants/1// /plants/1/. /plants/1/..
      /plants/./1 /./plants/1 /x/../plants/1 /plants/../plants/1 /../plants/1 /../../../../etc/passwd
      /plants/../../etc/passwd /%2e%2e/plants/1 /%2E/plants/1 /x/%2e%2e/plants/1 /%2fplants/1 /plants%2f1
      /plants%2F1 /plants%5c1 /plants\\1 /plants/1/x /Plants/1 /PLANTS/1 /plant%73/1 /%70lants/1 /plants%20/1
      /plants%00/1 /plants;x/1 /plants;/1 /plants:1 /plants.json/1 /plants/1/%2e /%c0%ae%c0%ae/plants/1
      /%u0070lants/1 /%zz /% /%00 /\xff\xfe /\xc3\xa9 /~ann/plants/1 /v1/plants/1 http://x//plants/1
      http://x/../plants/1 /http://x/plants/1 /x:1/plants/1 /* /@/plants/1 /.git/config /.env /plants#/1
      /index.php?x=<?php /cgi-bin/;id /\${jndi:ldap://x/a}`),
  ),
  ...keepsOpen(
    [40007],
    remove(
      `
      /plants/. /plants/.. /plants/%2e /plants/%2e%2e /plants/%2e%2e%2f1 /plants/..%2f1 /plants/%2f1 /plants/1%2f
      /plants/1%2f1 /plants/1%5c /plants/1\\ /plants/1%3fx /plants/1%23 /plants/1# /plants/1#x /plants/1;
      /plants/1;x=y /plants/1,2 /plants/1&2 /plants/1=1 /plants/%20 /plants/1%20 /plants/%201 /plants/+1
      /plants/%2b1 /plants/1%00 /plants/%001 /plants/1%0a /plants/1%0d%0a /plants/%0d%0aX:%20y /plants/1%09
      /plants/1%7f /plants/1\x7f /plants/% /plants/1% /plants/1%3 /plants/%1 /plants/%zz /plants/%u0031
      /plants/%%31 /plants/%2531 /plants/\xff /plants/1\xff /plants/%ff /plants/1%ff /plants/%c0%b1
      /plants/\xc0\xb1 /plants/%e0%80%b1 /plants/%d9%a1 /plants/\xd9\xa1 /plants/%ef%bc%91 /plants/%ef%bb%bf1
      /plants/1%cc%81 /plants/1.0 /plants/1e0 /plants/0x1 /plants/1n /plants/--1 /plants/- /plants/1-
      /plants/%e2%88%921 /plants/* /plants/:id /plants/{id} /plants/null /plants/true /plants/[1] /plants/"1"
      /plants/1|2 /plants/1'-- /plants/1<script> /plants/\${1} /plants/\`1\` /plants/9223372036854775808
      /plants/-9223372036854775809 /plants/18446744073709551617`,
      `/plants/1${"0".repeat(5_000)}`,
      `/plants/${"%31".repeat(4_000)}`,
    ),
  ),
  ...keepsOpen(
    [40400],
    remove(`
      /plants/-1 /plants/-0 /plants/-00 /plants/9?/plants/1 /plants/9223372036854775807
      /plants/-9223372036854775808`),
  ),
  ...keepsOpen([40500], remove("/ /?/plants/1 http://x http:// https://x:1 http://x?/plants/1")),
  ...closes(
    [400],
    remove(`
      plants/1 ./plants/1 ../plants/1 . * ? ?/plants/1 #/plants/1 \\plants\\1 x:1 x ftp://x/plants/1
      file:///plants/1 javascript:alert(1) %2fplants/1 :/plants/1 \xff/plants/1`),
  ),
  ...closes([400], { "OPTIONS *": request("OPTIONS", "*"), "GET *": request("GET", "*") }),
  // Bun ignores all bytes after a CONNECT, as if they were in a tunnel, until the idle timeout.
  ...closes([40401], {
    "CONNECT x:80": request("CONNECT", "x:80"),
    "CONNECT x:80, then a delete": request("CONNECT", "x:80") + request("DELETE", "/plants/1"),
  }),
];
