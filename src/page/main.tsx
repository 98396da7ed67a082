/** Beginning of the inspector page. */
import '@fontsource-variable/geist';
import '@fontsource-variable/geist-mono';
import './styles/tokens.css';
import './styles/frame.css';
import { render } from 'preact';
import { App } from './app.js';
import { startFeed } from './data/feed.js';
import { findToken } from './data/token.js';

findToken();
const root = document.getElementById('root');
if (root) render(<App />, root);
startFeed();
