/** Values of several owners, of which the one set last counts. */
export class Latest<T> {
	readonly #values = new Map<string, T>();

	/** Sets the value of an owner, or removes it. @returns the value that counts now */
	set(owner: string, value: T | undefined): T | undefined {
		this.#values.delete(owner);
		if (value !== undefined) this.#values.set(owner, value);
		return [...this.#values.values()].at(-1);
	}
}
