/** Downloads the journal of an actor. A download of a browser can't have a header: it gets a ticket of its own. */
import { useState } from 'preact/hooks';
import { withTicket } from '../data/api.js';

const fileOf = (address: string): string => `${address.replaceAll('/', '-')}.journal.ndjson`;

export function ExportLink({ address }: { address: string }) {
  const [fault, setFault] = useState('');
  const path = `/v1/journal-export?address=${encodeURIComponent(address)}`;
  const save = async (clicked: Event): Promise<void> => {
    clicked.preventDefault();
    try {
      const link = document.createElement('a');
      link.href = await withTicket(path);
      link.download = fileOf(address);
      link.click();
      setFault('');
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {fault !== '' && (
        <span class="fault" role="alert">
          {fault}
        </span>
      )}
      <a class="quiet" href={path} onClick={(clicked) => void save(clicked)}>
        Export the journal
      </a>
    </>
  );
}
