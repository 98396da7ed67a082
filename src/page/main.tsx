/** Beginning of the inspector page. */
import '@fontsource-variable/geist';
import '@fontsource-variable/geist-mono';
import './styles/tokens.css';
import './styles/frame.css';
import { render } from 'preact';
import { App } from './app.js';
import { startFeed } from './data/feed.js';

// The token of the link has become a cookie: it must not stay in the address bar, nor in the history of the browser.
const here = new URL(location.href);
if (here.searchParams.has('token')) history.replaceState(null, '', `${here.pathname}${here.hash}`);

const root = document.getElementById('root');
if (root) render(<App />, root);
startFeed();
