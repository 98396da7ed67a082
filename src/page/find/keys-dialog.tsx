/** Lists the keys of the page. */
import { Dialog } from '../common/dialog.js';
import './palette.css';

const groups: [title: string, keys: [keys: string, what: string][]][] = [
  [
    'Anywhere',
    [
      ['/', 'find'],
      ['g o', 'overview'],
      ['g e', 'event log'],
      ['t', 'light or dark'],
      ['z', 'times in UTC or local'],
      ['?', 'these keys'],
      ['Esc', 'close, leave the past'],
    ],
  ],
  [
    'Lists and log',
    [
      ['j k', 'down, up'],
      ['Enter', 'open'],
      ['f', 'filter'],
      ['x', 'clear filters'],
      ['p', 'hold the log'],
    ],
  ],
  [
    'Actor',
    [
      ['[ ]', 'step back, step on'],
      ['Home', 'first step'],
      ['l', 'now'],
      ['Space', 'play'],
      ['c', 'compare two moments'],
      ['w', 'what if'],
      ['y', 'copy a link to this moment'],
      ['g t', 'its timeline'],
    ],
  ],
  [
    'Timeline',
    [
      ['+ −', 'zoom'],
      ['0', 'all of it'],
      ['← →', 'step back, step on'],
    ],
  ],
];

export const KeysDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog name="Keys" class="keys" onClose={onClose}>
    <header class="card-head">
      <h2>Keys</h2>
      <button type="button" class="button" onClick={onClose}>
        Close <kbd>Esc</kbd>
      </button>
    </header>
    <div class="keys-groups">
      {groups.map(([title, keys]) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([names, what]) => (
              <div key={names}>
                <dt>
                  {names.split(' ').map((name) => (
                    <kbd key={name}>{name}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);
