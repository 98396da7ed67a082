/** Rules of texts that users and drivers give, without a schema: the bundled driver loads no zod. Schemas: names.ts */

export interface Rule {
  holds(text: string): boolean;
  /** Requirement that the text failed, as `must …`. */
  fault: string;
}

export const atMost = (bytes: number): Rule => ({
  holds: (text) => Buffer.byteLength(text) <= bytes,
  fault: `must have at most ${bytes} bytes`,
});

export const printable: Rule = {
  holds: (text) => !/[\p{Cc}\p{Cs}]/u.test(text),
  fault: 'must have no control characters or broken surrogate pairs',
};

/** Refuses names of properties that every object has. */
export const uninherited: Rule = {
  holds: (text) => !(text in Object.prototype),
  fault: 'must not be a name that every JavaScript object has, as constructor: take another one',
};

const notEmpty: Rule = { holds: (text) => text !== '', fault: 'must not be empty' };

/** Limit of the CSI specification. */
export const maxNodeIdBytes = 256;

/** Longest id that a plugin may give: CSI allows 128 bytes, but ids of some clouds have 280. */
export const maxCsiIdBytes = 4 * 1024;

/** First fault of a node id that a user gives, as `must …`; undefined without one. */
export const nodeIdFault = (nodeId: string): string | undefined =>
  [notEmpty, atMost(maxNodeIdBytes), printable, uninherited].find(({ holds }) => !holds(nodeId))?.fault;
