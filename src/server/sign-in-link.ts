/** Returns a sign-in link to the web page. Browsers do not send the fragment, so the token appears in no log. */
export const signInLink = (url: string, secret: string): string => `${url.replace(/\/+$/, "")}/#token=${secret}`;
