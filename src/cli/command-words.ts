/** Errors of the agent in the words of the command line: advice for users of the library becomes the matching command. */
import { AgentError } from '../client/agent-error.js';

export function inCommandWords({ code, message, answer }: AgentError): AgentError {
  if (code === 'PLUGIN_NOT_FOUND' && message.startsWith('no plugin is registered'))
    return new AgentError(
      code,
      message.replace(/: [^:]*$/, ': see stagecraft plugin list, and task list for plugins that did not start'),
      answer,
    );
  const isGroup = code === 'SNAPSHOT_NOT_FOUND' && /^(there is no )?group /.test(message);
  const subject = isGroup
    ? 'group-snapshot'
    : /^(TASK|VOLUME|SNAPSHOT|NODE|ALLOC|MOUNT)_NOT_FOUND$/.exec(code)?.[1]?.toLowerCase();
  const said = subject ? message.replace(/: list (them|what)[^:]*$/, `: see stagecraft ${subject} list`) : message;
  return new AgentError(code, said, answer);
}
