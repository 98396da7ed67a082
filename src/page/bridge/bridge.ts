/**
 * Shows this agent's actors in Stately's inspector: embeds the official page and forwards to it what the agent says. Only
 * that page gets it, and nothing that it says goes back. It is the one page here that needs the internet.
 */
import { ApiError, openSocket } from '../data/api.js';
import { findToken } from '../data/token.js';
import './bridge.css';

const inspector = 'https://stately.ai';
const connected = '@statelyai.connected';

const frame = document.getElementById('inspector') as HTMLIFrameElement;
const words = document.getElementById('words');

const say = (text: string): void => {
  if (words) words.textContent = text;
};

let socket: WebSocket | undefined;

async function forward(): Promise<void> {
  socket?.close();
  socket = await openSocket(`/v1/stately${location.search}`);
  socket.onopen = () => say('');
  socket.onmessage = ({ data }) => frame.contentWindow?.postMessage(JSON.parse(data), inspector);
  socket.onclose = () => say('The agent does not answer. Load this page again once it does.');
}

addEventListener('message', ({ origin, data }) => {
  if (origin === inspector && data instanceof Object && data.type === connected)
    forward().catch((error: unknown) => say(error instanceof ApiError ? error.message : String(error)));
});
findToken();
// Only now: the frame says once that it is ready.
frame.src = `${inspector}/inspect`;
say('Waiting for Stately’s inspector: it comes from stately.ai, over the internet.');
