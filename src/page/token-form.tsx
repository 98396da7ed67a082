/** Asks for the token, where the page has none or the agent has refused it. */
import { useState } from 'preact/hooks';
import { keepToken, wasRefused } from './data/token.js';
import './token-form.css';

export function TokenForm() {
  const [text, setText] = useState('');
  const open = (submitted: Event): void => {
    submitted.preventDefault();
    keepToken(text.trim());
  };
  return (
    <main class="token-form">
      <form class="card" onSubmit={open}>
        <h1>{wasRefused.value ? 'The token is wrong' : 'The token is missing'}</h1>
        <p>
          Only those who have the token of this agent can look. <code>stagecraft inspect</code> prints a link with it.
        </p>
        <label class="edit-field">
          <span>Token</span>
          <input
            class="field"
            type="password"
            required
            autocomplete="off"
            value={text}
            onInput={({ currentTarget: { value } }) => setText(value)}
          />
        </label>
        <button type="submit" class="button">
          Open the page
        </button>
      </form>
    </main>
  );
}
