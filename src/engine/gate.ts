/** A gate that opens once. */
export class Gate {
  #open: () => void = () => {};
  #opened: Promise<void> | undefined = new Promise((resolve) => {
    this.#open = resolve;
  });

  /** Resolves once it is open; undefined if it is. */
  whenOpen(): Promise<void> | undefined {
    return this.#opened;
  }

  open(): void {
    this.#opened = undefined;
    this.#open();
  }
}
