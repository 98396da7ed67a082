/** No agent at another place has mounted anything. */
export const noFormerMounts = {
  why: () => undefined,
  refuse: () => {},
  over: async () => {},
  on: async () => undefined,
};
