import { signInLink } from "./sign-in-link.ts";

/** The URL of a server that is ready, and the first token if it was just created. */
export interface Announcement {
  readonly url: string;
  readonly secret?: string | undefined;
}

/** Prints the URL of the server and, on the first start, the token with a sign-in link and a `curl` command. */
export function announce({ url, secret }: Announcement): void {
  console.log(`Plant Store is ready at ${url}${secret === undefined ? "" : formatFirstToken(secret, url)}`);
}

const formatFirstToken = (secret: string, url: string): string => `

This token is for the owner "default". It is shown only once; create others with "token create".

  ${secret}

Open this link to use the web page, or use curl:

  ${signInLink(url, secret)}

  curl ${url}/plants -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"id": 1, "name": "Clarkia", "tag": "annual"}'
`;
