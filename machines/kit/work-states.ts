/**
 * The four states of a piece of work with a plugin, inside a state of a part. Its owner makes one call at a time: it gives the
 * turn to the part that is due first, and hands the outcome of the call to it.
 */

/** Outcomes that only a call that was made can have. */
type OfMadeCall =
  `${string}.${'done' | 'unknown' | 'unproven' | 'no-room' | 'interrupted' | 'not-found' | 'not-needed' | 'not-as-asked' | 'made-nothing'}`;
const ofMadeCall = /\.(done|unknown|unproven|no-room|interrupted|not-found|not-needed|not-as-asked|made-nothing)$/;

/** Leaves out the outcomes of a call that was made: a waiting call was not. */
const ofWaitingCall = <TOutcomes extends object>(outcomes: TOutcomes) =>
  Object.fromEntries(Object.entries(outcomes).filter(([type]) => !ofMadeCall.test(type))) as Omit<
    TOutcomes,
    OfMadeCall
  >;

/**
 * Those in which the call of the owner belongs to this part have the tag `has-turn`.
 * @param call its name in CSI, for pictures
 * @param outcomes of the call, and what each leads to: accepted only while the call is under way, and as far as it need not have
 *   been made also while it waits
 * @param restart name of the action that forgets failed attempts
 * @param calling what else is taken otherwise while the call is under way: it may take effect
 * @param waiting the same while the call waits for the plugin: nothing was sent
 */
export const workStates = <
  const TOutcomes extends object,
  const TRestart extends string,
  const TCalling extends object = Record<never, never>,
  const TWaiting extends object = Record<never, never>,
>({
  call,
  outcomes,
  restart,
  calling,
  waiting,
}: {
  call: string;
  outcomes: TOutcomes;
  restart: TRestart;
  calling?: TCalling;
  waiting?: TWaiting;
}) => ({
  due: {
    on: { 'turn.given': 'calling' as const, retry: { actions: restart } },
  },
  calling: {
    tags: 'has-turn' as const,
    meta: { call },
    on: {
      'call.waits': 'waiting-for-plugin' as const,
      'turn.lost': 'due' as const,
      retry: { actions: restart },
      ...outcomes,
      ...(calling as TCalling),
    },
  },
  'waiting-for-plugin': {
    tags: 'has-turn' as const,
    on: {
      'call.waits': {},
      'turn.lost': 'due' as const,
      retry: { actions: restart },
      ...ofWaitingCall(outcomes),
      ...(waiting as TWaiting),
    },
  },
  'backing-off': {
    on: { 'turn.given': 'calling' as const, retry: { target: 'due' as const, actions: restart } },
  },
});
