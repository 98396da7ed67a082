/** Where an event stands in its topic: the number behind the topic in its id. */
export const cursorIn = (id: string): number => Number(id.slice(id.lastIndexOf('@') + 1));
