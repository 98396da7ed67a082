/** Sends the actor an event by hand: what it is, the state before, and a word to type before it goes. */
import { useState } from 'preact/hooks';
import type { ActorDetail } from '../../api/actor-routes.js';
import { Dialog } from '../common/dialog.js';
import type { Api } from './actor-model.js';
import { eventIn } from './edits.js';

interface SendDialogProps {
  detail: ActorDetail;
  /** Type of the event that was chosen. */
  type: string;
  api: Api;
  onClose: () => void;
}

/** Word to type, so that nothing is sent by a slip. */
const word = 'send';

export function SendDialog({ detail: { address, state }, type, api, onClose }: SendDialogProps) {
  const [text, setText] = useState(JSON.stringify({ type }, null, 2));
  const [by, setBy] = useState('');
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState('');
  const [isSent, setSent] = useState(false);
  const send = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    const event = eventIn(text);
    if ('fault' in event) return setFault(event.fault);
    try {
      await api.post('/v1/actors/send', { address, event: event.event, by });
      setSent(true);
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog name={`Send ${type}`} class="send" onClose={onClose}>
      <form onSubmit={(submitted) => void send(submitted)}>
        <header class="card-head">
          <h2>Send an event</h2>
          <button type="button" class="button" onClick={onClose}>
            Close <kbd>Esc</kbd>
          </button>
        </header>
        <div class="send-fields">
          <p>
            To <code>{address}</code>, which is <code>{state}</code> now. It is taken like a request of a caller, and
            kept in its journal.
          </p>
          <label class="edit-field">
            <span>Event, as JSON</span>
            <textarea
              rows={6}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget: { value } }) => setText(value)}
            />
          </label>
          <label class="edit-field">
            <span>Your name, for the journal</span>
            <input class="field" value={by} onInput={({ currentTarget: { value } }) => setBy(value)} />
          </label>
          <label class="edit-field">
            <span>
              Type <code>{word}</code> to go on
            </span>
            <input
              class="field"
              autocomplete="off"
              value={typed}
              onInput={({ currentTarget: { value } }) => setTyped(value)}
            />
          </label>
          {fault !== '' && (
            <p class="fault" role="alert">
              {fault}
            </p>
          )}
          {isSent ? (
            <p role="status">Sent: the actor has taken it.</p>
          ) : (
            <button type="submit" class="button" disabled={typed !== word || by === ''}>
              Send
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
