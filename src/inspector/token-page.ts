/** Asks for the token in a browser that has opened an address without it: a page with one field, and no script. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const style =
  ':root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:32rem;margin:15vh auto;padding:0 1rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem;margin:.5rem 0}button{font:inherit;padding:.4rem 1rem}';

const hash = createHash('sha256').update(style).digest('base64');

/** Its field leads to the page of this agent, and nowhere else. */
export const tokenPagePolicy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

export const tokenPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Token · Stagecraft</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>The token is missing or wrong</h1>
<p>Only those who have the token of this agent can look. <code>stagecraft inspect</code> prints a link with it.</p>
<form action="/" method="get">
<label>Token <input name="token" type="password" required autofocus autocomplete="off"></label>
<button>Open the page</button>
</form>
</main>
</body>
</html>
`;

/** Whether a person has opened the address in a browser: a script of a page and other programs get JSON. */
export const isOpenedInBrowser = ({ accept = '' }: IncomingHttpHeaders): boolean => accept.includes('text/html');
